// SPDX-License-Identifier: MIT
// Every text of the page in both languages. A function takes what stands in the middle of it.

const english = {
  title: "Skills",
  language: "Language",
  add: "Add skill",
  importArchive: "Import archive…",
  importFolder: "Import folder…",
  dropHint: "or drop a folder or a .zip anywhere on this page",
  drop: "Drop a folder or a .zip to import it",
  filter: "Filter",
  loaded: "Loaded",
  noMatch: "No skill matches the filter.",
  more: (count) => `Show ${count} more`,
  unloaded: "Not loaded",
  unloadedText: "These directories are not loaded as skills. Each says why: correct its SKILL.md, or import it again.",
  emptyTitle: "No skills yet",
  emptyText: "A skill is a directory with a SKILL.md that tells an agent how to do something. The agent sees the name and the description, and reads the rest when it needs it.",
  emptyHow: "Add one with a name and a description, import a folder or a .zip, or drop it here.",
  system: "System",
  systemHelp: "Comes with the application and cannot be changed here",
  user: "User",
  files: "Files",
  filesOf: (id) => `Files of ${id}`,
  edit: "Edit",
  editOf: (id) => `Edit ${id}`,
  delete: "Delete",
  deleteOf: (id) => `Delete ${id}`,
  warnings: (count) => (count === 1 ? "1 warning" : `${count} warnings`),
  error: "error",
  warning: "warning",
  no_skill_file: "There is no SKILL.md in it.",
  wrong_case: "The name of its file is not all capitals. Rename it to SKILL.md.",
  left_out: "It was not looked at, because there are too many directories.",
  invalid_frontmatter: "The frontmatter of SKILL.md cannot be used.",
  unreadable: "SKILL.md cannot be read.",
  shadowed: "A system skill has the same id and is used instead.",
  fileList: "Files",
  noFiles: "The directory is empty.",
  loading: "Loading…",
  symlink: "link",
  other: "special file",
  truncated: (shown, all) => `The first ${shown} of ${all} are shown.`,
  preview: (path) => `Content of ${path}`,
  addTitle: "Add skill",
  editTitle: (id) => `Edit ${id}`,
  id: "Id",
  idHelp: "The name of its directory, best of lowercase letters, digits and hyphens.",
  name: "Name",
  description: "Description",
  descriptionHelp: "What it does and when an agent should use it.",
  required: "This must not be empty.",
  idProblem: "Use letters, digits and hyphens, for example weekly-report. It must not begin with a dot or have a slash, backslash or colon in it.",
  fieldProblem: "There are characters in it that cannot be used here.",
  frontmatterProblem: "The frontmatter of this SKILL.md is written in a way that cannot be changed safely here. Change it in an editor.",
  idTaken: "There is a skill with this id already.",
  cancel: "Cancel",
  save: "Save",
  import: "Import",
  importTitle: "Import skill",
  importIdHelp: "The name of its directory here. Left empty, it is the folder in the archive, or the name of the archive.",
  sourceSize: (files, size) => (files === 1 ? `1 file, ${size}` : `${files} files, ${size}`),
  uploading: (percent) => `Uploading, ${percent} %`,
  storing: "Checking and storing…",
  tooLarge: "This is more than 64 MiB, which is the most that can be imported at once.",
  notOneSource: "Drop one folder or one .zip or .skill file.",
  overwriteTitle: (id) => `Replace ${id}?`,
  overwriteText: (id) => `There is a skill ${id} already. Everything in its directory is replaced by what you import.`,
  overwrite: "Replace",
  deleteTitle: (id) => `Delete ${id}?`,
  deleteText: (path) => `The directory ${path} is deleted with everything in it. This cannot be undone.`,
  added: (id) => `${id} was added.`,
  edited: (id) => `${id} was saved.`,
  deleted: (id) => `${id} was deleted.`,
  imported: (id, files) => `${id} was imported: ${files === 1 ? "1 file" : `${files} files`}.`,
  importedUnloaded: (id) => `${id} was imported, but it is not loaded: see the reason below.`,
  unreachable: "paddock does not answer. Is it still running? Start it again and open the address it prints.",
  where: (message, entry) => `${message} (${entry})`,
};

const chinese = {
  title: "Skills 配置",
  language: "语言",
  add: "添加 Skill",
  importArchive: "导入压缩包…",
  importFolder: "导入文件夹…",
  dropHint: "也可以将文件夹或 .zip 拖放到本页面任意位置",
  drop: "松开鼠标即可导入文件夹或 .zip",
  filter: "筛选",
  loaded: "已加载",
  noMatch: "没有符合筛选条件的 Skill。",
  more: (count) => `再显示 ${count} 个`,
  unloaded: "未加载",
  unloadedText: "以下目录还不是有效的 Skill，原因列在各目录下方；请修正文件或重新导入。",
  emptyTitle: "还没有 Skill",
  emptyText: "Skill 是一个包含 SKILL.md 的目录，用来告诉智能体如何完成某件事。智能体先看到名称和描述，需要时再读取其余内容。",
  emptyHow: "可以填写名称和描述来添加，也可以导入文件夹或 .zip，或直接拖放到此处。",
  system: "系统",
  systemHelp: "随应用提供，不能在此修改",
  user: "用户",
  files: "文件",
  filesOf: (id) => `${id} 的文件`,
  edit: "编辑",
  editOf: (id) => `编辑 ${id}`,
  delete: "删除",
  deleteOf: (id) => `删除 ${id}`,
  warnings: (count) => `${count} 条警告`,
  error: "错误",
  warning: "警告",
  no_skill_file: "目录中没有 SKILL.md。",
  wrong_case: "文件名的大小写不对，请改名为 SKILL.md。",
  left_out: "目录太多，没有检查这一个。",
  invalid_frontmatter: "SKILL.md 的 frontmatter 无效。",
  unreadable: "无法读取 SKILL.md。",
  shadowed: "已有相同 ID 的系统 Skill，以系统 Skill 为准。",
  fileList: "文件列表",
  noFiles: "目录为空。",
  loading: "正在加载…",
  symlink: "链接",
  other: "特殊文件",
  truncated: (shown, all) => `共 ${all}，仅显示前 ${shown}。`,
  preview: (path) => `${path} 的内容`,
  addTitle: "添加 Skill",
  editTitle: (id) => `编辑 ${id}`,
  id: "ID",
  idHelp: "即目录名，建议使用小写字母、数字和连字符。",
  name: "名称",
  description: "描述",
  descriptionHelp: "说明它的用途，以及智能体应在何时使用它。",
  required: "此项不能为空。",
  idProblem: "请使用字母、数字和连字符，例如 weekly-report；不能以点开头，也不能包含斜杠、反斜杠或冒号。",
  fieldProblem: "其中有不能使用的字符。",
  frontmatterProblem: "此 SKILL.md 的 frontmatter 写法无法在此安全修改，请使用编辑器修改。",
  idTaken: "已有使用此 ID 的 Skill。",
  cancel: "取消",
  save: "保存",
  import: "导入",
  importTitle: "导入 Skill",
  importIdHelp: "导入后的目录名。留空则使用压缩包内的文件夹名，或压缩包的名称。",
  sourceSize: (files, size) => `${files} 个文件，${size}`,
  uploading: (percent) => `正在上传，${percent}%`,
  storing: "正在检查并保存…",
  tooLarge: "内容超过 64 MiB，超出单次导入的上限。",
  notOneSource: "请只拖放一个文件夹，或一个 .zip 或 .skill 文件。",
  overwriteTitle: (id) => `覆盖 ${id}？`,
  overwriteText: (id) => `已存在 ${id}。其目录中的全部内容将被导入的内容替换。`,
  overwrite: "覆盖",
  deleteTitle: (id) => `删除 ${id}？`,
  deleteText: (path) => `目录 ${path} 及其全部内容将被删除，且无法恢复。`,
  added: (id) => `已添加 ${id}。`,
  edited: (id) => `已保存 ${id}。`,
  deleted: (id) => `已删除 ${id}。`,
  imported: (id, files) => `已导入 ${id}，共 ${files} 个文件。`,
  importedUnloaded: (id) => `已导入 ${id}，但未能加载，原因见下方。`,
  unreachable: "paddock 没有响应。它还在运行吗？请重新启动，并打开它显示的地址。",
  where: (message, entry) => `${message}（${entry}）`,
};

const tables = { en: english, zh: chinese };

// A cookie, because another port is another origin to every other kind of storage.
const cookie = "paddock-language";

function remembered() {
  const value = document.cookie.match(new RegExp(`(?:^|; )${cookie}=(en|zh)(?:;|$)`));
  return value?.[1];
}

export let language = remembered() ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");

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
  for (const node of document.querySelectorAll("[data-placeholder]")) node.placeholder = text(node.dataset.placeholder);
  for (const node of document.querySelectorAll("[data-language]"))
    node.ariaPressed = String(node.dataset.language === language);
}

export function choose(chosen) {
  language = chosen;
  document.cookie = `${cookie}=${chosen}; SameSite=Strict; Path=/; Max-Age=31536000`;
  translate();
}

export function bytes(count) {
  const units = ["B", "KiB", "MiB"];
  let unit = 0;
  for (; count >= 1024 && unit + 1 < units.length; ++unit) count /= 1024;
  return `${unit === 0 || count >= 100 ? Math.round(count) : count.toFixed(1)} ${units[unit]}`;
}
