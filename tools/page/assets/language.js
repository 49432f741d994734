// SPDX-License-Identifier: MIT
// What the pages say, and in which language: tables of texts. A function takes the part in the middle.

const tables = {
  en: {
    language: "Language",
    cancel: "Cancel",
    unreachable: "paddock does not answer. Is it still running? Start it again and open the address it prints.",
    where: (message, entry) => `${message} (${entry})`,
  },
  zh: {
    language: "语言",
    cancel: "取消",
    unreachable: "paddock 没有响应。它还在运行吗？请重新启动，并打开它显示的地址。",
    where: (message, entry) => `${message}（${entry}）`,
  },
};

/** Adds the texts of a page: one table for each language. */
export function speak(given) {
  for (const [name, texts] of Object.entries(given)) Object.assign(tables[name], texts);
}

// Cookies, because another port is another origin to every other kind of storage.

/** What a person has chosen before; undefined where they have not, or it is not among `values`. */
export function remembered(name, values) {
  const cookies = document.cookie.split("; ").map((each) => each.split("="));
  const value = cookies.find(([key]) => key === `paddock-${name}`)?.[1];
  return values.includes(value) ? value : undefined;
}

export function remember(name, value) {
  document.cookie = `paddock-${name}=${value}; SameSite=Strict; Path=/; Max-Age=31536000`;
}

const ofBrowser = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
export let language = remembered("language", Object.keys(tables)) ?? ofBrowser;

/** The names of all texts of the chosen language. */
export const keys = () => Object.keys(tables[language]);

export function text(key, ...middle) {
  const found = tables[language][key];
  return typeof found === "function" ? found(...middle) : found;
}

/** Puts the texts of the chosen language into everything that names one. */
export function translate() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  document.title = text("title");
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.ariaLabel = text(node.dataset.label);
  for (const node of document.querySelectorAll("[data-title]")) node.title = text(node.dataset.title);
  for (const node of document.querySelectorAll("[data-placeholder]")) node.placeholder = text(node.dataset.placeholder);
  for (const node of document.querySelectorAll("[data-language]"))
    node.ariaPressed = String(node.dataset.language === language);
}

export function choose(chosen) {
  language = chosen;
  remember("language", chosen);
  translate();
}

export function bytes(count) {
  const units = ["B", "KiB", "MiB"];
  let unit = 0;
  for (; count >= 1024 && unit + 1 < units.length; ++unit) count /= 1024;
  return `${unit === 0 || count >= 100 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
}
