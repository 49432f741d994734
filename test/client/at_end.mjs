// SPDX-License-Identifier: MIT
// What tests start, they end: the last first, so that nothing is taken away from under what still uses it.

const endings = new WeakMap();

/** Runs the action when the test ends, before those that were given earlier. One that fails keeps none of them from running. */
export function atEnd(test, action) {
  const known = endings.get(test);
  if (known) return void known.push(action);
  const actions = [action];
  endings.set(test, actions);
  // Hooks of a test run in the order in which they were given, up to the first that fails.
  test.after(async () => {
    const failures = [];
    while (actions.length > 0)
      try {
        await actions.pop()();
      } catch (failure) {
        failures.push(failure);
      }
    if (failures.length > 0) throw failures[0];
  });
}
