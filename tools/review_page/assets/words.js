// SPDX-License-Identifier: MIT
// Which words of a line have changed. Bounded: long lines are compared at their ends alone.

const token = /[[\p{L}\p{N}_]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]]+|\s+|./gsv;
const cellsMax = 40_000; // of the table in which two lines are compared
const bytesMax = 1_000; // of a line that is looked at
const alikeMin = 0.3; // with less in common two lines have nothing to do with each other

/** For each of both lists, whether its token stands in the other one at that place: a longest common sequence. */
function common(before, after) {
  const width = after.length + 1;
  const length = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; --i)
    for (let j = after.length - 1; j >= 0; --j)
      length[i * width + j] =
        before[i] === after[j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
  const kept = [before.map(() => false), after.map(() => false)];
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (before[i] === after[j]) kept[0][i++] = kept[1][j++] = true;
    else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) ++i;
    else ++j;
  }
  return kept;
}

/** Runs of tokens: [text, whether it has changed]. */
function runs(tokens, kept) {
  const out = [];
  tokens.forEach((text, i) => {
    const changed = !kept[i];
    if (out.length > 0 && out.at(-1)[1] === changed) out.at(-1)[0] += text;
    else out.push([text, changed]);
  });
  return out;
}

/** Both lines in runs of [text, changed]; undefined when they are too different, or too long. */
export function changedWords(before, after) {
  if (before.length > bytesMax || after.length > bytesMax) return undefined;
  const [a, b] = [before.match(token) ?? [], after.match(token) ?? []];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) ++start;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) ++end;
  const middle = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const kept =
    middle[0].length * middle[1].length > cellsMax
      ? middle.map((tokens) => tokens.map(() => false))
      : common(...middle);
  const whole = [a, b].map((tokens, side) => tokens.map((_, i) => i < start || i >= tokens.length - end || kept[side][i - start]));
  const same = a.reduce((sum, text, i) => sum + (whole[0][i] && text.trim() ? text.length : 0), 0);
  if (same < alikeMin * Math.max(before.trim().length, after.trim().length)) return undefined;
  return { before: runs(a, whole[0]), after: runs(b, whole[1]) };
}
