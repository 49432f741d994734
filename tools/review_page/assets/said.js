// SPDX-License-Identifier: MIT
// Who, when, and since when: in words.

import { element } from "./dom.js";
import { language, text } from "./texts.js";

const said = (time, how) => new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en-GB", how).format(time);

/** The time of day; with the date when that is not today, and with the year when that is another one. */
function moment(time) {
  const [then, today] = [new Date(time), new Date()];
  const day = then.toDateString() === today.toDateString() ? {} : { month: "short", day: "numeric" };
  const year = then.getFullYear() === today.getFullYear() ? {} : { year: "numeric" };
  return said(then, { ...year, ...day, hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/** The same as an element, which has the whole date for who asks. */
export const when = (time) =>
  element("time", { dateTime: new Date(time).toISOString(), title: said(time, { dateStyle: "full", timeStyle: "medium" }) }, moment(time));

/** A tool by its name, a command by its line or the hosts it reached and was refused, a person who has undone something, or not by an agent. */
export function whoDid({ by, tool, command }) {
  if (tool === "network") return `${text("network")}: ${command}`;
  if (by === "exec") return command ? `$ ${command.length > 80 ? `${command.slice(0, 79)}…` : command}` : text("exec");
  if (by === "other") return text(tool === "undo" ? "byUndo" : "other");
  return tool ?? text("tool");
}

export function checkpointName({ id, label, start, time }) {
  return `${start ? text("start") : label || text("checkpointNumber", id)} · ${moment(time)}`;
}
