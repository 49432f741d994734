// SPDX-License-Identifier: MIT
// Who, when, and since when: in words.

import { language, text } from "./texts.js";

/** The time of day; with the date when that is not today. */
export function moment(time) {
  const then = new Date(time);
  const isToday = then.toDateString() === new Date().toDateString();
  const day = isToday ? {} : { month: "short", day: "numeric" };
  return new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en-GB", { ...day, hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(then);
}

/** A tool by its name, a command by its line, a person who has undone something, or somebody else. */
export function whoDid({ by, tool, command }) {
  if (by === "exec") return command ? `$ ${command.length > 80 ? `${command.slice(0, 79)}…` : command}` : text("exec");
  if (by === "other") return text(tool === "undo" ? "byUndo" : "other");
  return tool ?? text("tool");
}

export function checkpointName({ id, label, start, time }) {
  return `${start ? text("start") : label || text("checkpointNumber", id)} · ${moment(time)}`;
}
