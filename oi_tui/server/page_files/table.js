// Shows a table of a program: the names and types of its columns, its first and last rows. Cells hold text, never HTML.
import { make } from "./markdown.js";

// What another program wrote into a conversation has no more rows and columns than these.
const MOST_ROWS = 40;
const MOST_COLUMNS = 200;

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function cell(name, text, numeric) {
  const made = make(name, text === null ? "NaN" : String(text));
  if (numeric) made.className = "right";
  if (text === null) made.classList.add("missing");
  made.title = made.textContent;
  return made;
}

function head(index, columns, hidden) {
  const names = columns.map(([name, kind, numeric]) => {
    const made = cell("th", name, numeric);
    made.append(make("small", String(kind)));
    made.title = `${name} ${kind}`;
    return made;
  });
  const more = hidden ? [make("th", `… ${count(hidden, "more column")}`)] : [];
  return make("thead", make("tr", cell("th", index, false), ...names, ...more));
}

function build({ index, columns, rows, total, width, head: first }) {
  if (rows.length > MOST_ROWS || columns.length > MOST_COLUMNS) throw new TypeError("too large");
  const lines = rows.map(([label, cells]) => {
    if (cells.length !== columns.length) throw new TypeError("not a table");
    return make("tr", cell("th", label, false), ...cells.map((text, at) => cell("td", text, columns[at][2] === true)));
  });
  if (rows.length < total) {
    const gap = make("td", `… ${count(total - rows.length, "row")} not shown`);
    gap.colSpan = columns.length + 1;
    gap.className = "gap";
    lines.splice(first, 0, make("tr", gap));
  }
  const frame = make("div", make("table", head(index, columns, width - columns.length), make("tbody", ...lines)));
  frame.className = "table values";
  frame.tabIndex = 0;
  const size = make("p", `${count(total, "row")} x ${count(width, "column")}`);
  size.className = "size";
  return [frame, size];
}

// The elements of a table that was written as JSON; none where it is not one.
export function values(json) {
  try {
    return build(JSON.parse(json));
  } catch {
    return [];
  }
}
