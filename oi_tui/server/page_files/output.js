// Colours what programs print: their 16 colours and bold. Every piece becomes text of a span, never HTML.
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const OTHER = /\x1b\[[0-9;:?<=>]*[ -/]*[@-ln-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-Z\\^-~]/g;

// A line that was written over by its own continuation, such as a progress bar, is the newest form of it.
// A match begins at the start of a line only: to try each character of a long line would take its square in steps.
const last = (text) => text.replace(/(?<![^\n])[^\n]*\r(?!\n)/g, "");

function change(style, codes) {
  const numbers = codes.split(";").map(Number);
  while (numbers.length) {
    const code = numbers.shift();
    if (code === 0) [style.colour, style.bold] = ["", false];
    else if (code === 1) style.bold = true;
    else if (code === 22) style.bold = false;
    else if (code >= 30 && code <= 37) style.colour = NAMES[code - 30];
    else if (code >= 90 && code <= 97) style.colour = NAMES[code - 90];
    else if (code === 39) style.colour = "";
    else if (code === 38 || code === 48) {
      const [kind, value] = numbers;
      numbers.splice(0, kind === 5 ? 2 : 4);
      if (code === 38) style.colour = kind === 5 && value < 16 ? NAMES[value % 8] : "";
    }
  }
}

export function output(text) {
  const style = { colour: "", bold: false };
  const made = [];
  last((text || "").replace(OTHER, "")).split(/\x1b\[([0-9;]*)m/).forEach((piece, place) => {
    if (place % 2) change(style, piece);
    else if (piece && !style.colour && !style.bold) made.push(document.createTextNode(piece));
    else if (piece) {
      const span = document.createElement("span");
      span.className = [style.colour && `ansi-${style.colour}`, style.bold && "bold"].filter(Boolean).join(" ");
      span.textContent = piece;
      made.push(span);
    }
  });
  return made;
}
