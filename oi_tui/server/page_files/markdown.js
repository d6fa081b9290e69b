// Markdown of the model as elements. Text only ever becomes text: there is no HTML, no link and no image in it.
import { lines } from "./code.js";

// Backticks count by whole runs: trying parts of a long run would take time that grows with its cube.
const INLINE = /(?<!`)(`+)(?!`)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*|(?<![\w*])[*](?=\S)([^*\n]*[^\s*])[*](?![\w*])|(?<!\w)_(?=\S)([^_\n]*[^\s_])_(?!\w)/g;
// No two parts of a pattern match the same space in turn: trying all ways to share it would take too long. A row
// may have line ends of other kinds, which `.` does not match.
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+([\s\S]*)$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*(?:([\w+#.-]+)\s*)?$/;
const HEADING = /^ {0,3}(#{1,6})\s+([\s\S]*)$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const MOST = 30_000; // characters; a longer text is shown as it is
const DEEPEST = 8;
const WIDEST = 100; // columns; browsers take seconds to lay out many more

export function make(name, ...content) {
  const element = document.createElement(name);
  element.append(...content);
  return element;
}

function inline(text, depth = 0) {
  const made = [];
  let end = 0;
  for (const found of depth > DEEPEST ? [] : text.matchAll(INLINE)) {
    made.push(text.slice(end, found.index));
    const [whole, , code, strong, star, line] = found;
    if (code !== undefined) made.push(make("code", code.trim() || code));
    else if (strong !== undefined) made.push(make("strong", ...inline(strong, depth + 1)));
    else made.push(make("em", ...inline(star ?? line, depth + 1)));
    end = found.index + whole.length;
  }
  made.push(text.slice(end));
  return made.filter((part) => part !== "");
}

export function render(text) {
  if (text.length > MOST) return [make("p", text)];
  return blocks(text.split("\n"), 0);
}

function blocks(rows, depth) {
  const made = [];
  let at = 0;
  while (at < rows.length) {
    const [element, next] = block(rows, at, depth);
    if (element) made.push(element);
    at = next;
  }
  return made;
}

function block(rows, at, depth) {
  const row = rows[at];
  if (!row.trim()) return [null, at + 1];
  const fence = row.match(FENCE);
  if (fence) return fenced(rows, at, fence);
  const heading = row.match(HEADING);
  if (heading) return [make(`h${Math.min(6, heading[1].length + 2)}`, ...inline(withoutClosing(heading[2]))), at + 1];
  if (RULE.test(row)) return [make("hr"), at + 1];
  if (row.includes("|") && isDivider(rows[at + 1] || "") && row.split("|").length < WIDEST) return table(rows, at);
  if (depth < DEEPEST && /^ {0,3}>/.test(row)) return quotation(rows, at, depth);
  if (depth < DEEPEST && ITEM.test(row)) return list(rows, at, depth);
  return paragraph(rows, at);
}

// The text of a heading without the marks that may close it.
function withoutClosing(text) {
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  return text.slice(0, end).trimEnd();
}

function fenced(rows, at, fence) {
  let end = at + 1;
  while (end < rows.length && !rows[end].trim().startsWith(fence[1])) end += 1;
  const content = make("pre", ...lines(rows.slice(at + 1, end).join("\n"), (fence[2] || "").toLowerCase()));
  content.tabIndex = 0;
  return [content, end + 1];
}

function quotation(rows, at, depth) {
  let end = at;
  while (end < rows.length && /^ {0,3}>/.test(rows[end])) end += 1;
  const inner = rows.slice(at, end).map((row) => row.replace(/^ {0,3}> ?/, ""));
  return [make("blockquote", ...blocks(inner, depth + 1)), end];
}

function list(rows, at, depth) {
  const [, margin, mark] = rows[at].match(ITEM);
  const ordered = /\d/.test(mark);
  const made = make(ordered ? "ol" : "ul");
  if (ordered) made.start = Number.parseInt(mark, 10);
  let end = at;
  while (end < rows.length) {
    const item = rows[end].match(ITEM);
    if (!item || item[1].length > margin.length + 1 || /\d/.test(item[2]) !== ordered || RULE.test(rows[end])) break;
    const inner = [item[3]];
    end += 1;
    // What is further to the right belongs to the item; an empty row does if the item goes on behind it.
    while (end < rows.length && belongs(rows, end, margin.length)) inner.push(rows[end++].slice(margin.length + 2));
    while (end < rows.length && !rows[end].trim() && ITEM.test(rows[end + 1] || "")) end += 1;
    made.append(entry(inner, depth));
  }
  return [made, end];
}

function belongs(rows, at, margin) {
  const row = rows[at].trim() ? rows[at] : rows[at + 1] || "";
  return row.trim() !== "" && row.search(/\S/) > margin + 1;
}

function entry(inner, depth) {
  const task = inner[0].match(/^\[([ xX])\]\s+([\s\S]*)$/);
  if (task) inner[0] = task[2];
  const content = blocks(inner, depth + 1);
  const made = make("li", ...(content[0]?.tagName === "P" ? [...content[0].childNodes, ...content.slice(1)] : content));
  if (task) {
    const box = make("input");
    [box.type, box.disabled, box.checked] = ["checkbox", true, task[1] !== " "];
    box.setAttribute("aria-label", box.checked ? "done" : "to do");
    made.prepend(box, " ");
    made.className = "task";
  }
  return made;
}

function table(rows, at) {
  const sides = cells(rows[at + 1]).map((text) => (text.endsWith(":") ? (text.startsWith(":") ? "center" : "right") : ""));
  const row = (text, name) => make("tr", ...cells(text).map((content, column) => {
    const cell = make(name, ...inline(content));
    if (sides[column]) cell.className = sides[column];
    return cell;
  }));
  let end = at + 2;
  const body = make("tbody");
  while (end < rows.length && rows[end].includes("|")) body.append(row(rows[end++], "td"));
  const frame = make("div", make("table", make("thead", row(rows[at], "th")), body));
  frame.className = "table";
  frame.tabIndex = 0;
  return [frame, end];
}

function isDivider(row) {
  return cells(row).every((cell) => /^:?-+:?$/.test(cell));
}

function cells(row) {
  return row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((text) => text.replaceAll("\\|", "|").trim());
}

function paragraph(rows, at) {
  let end = at + 1;
  while (end < rows.length && rows[end].trim() && !FENCE.test(rows[end]) && !HEADING.test(rows[end]) && !ITEM.test(rows[end]) && !/^ {0,3}>/.test(rows[end])) end += 1;
  return [make("p", ...inline(rows.slice(at, end).join("\n"))), end];
}
