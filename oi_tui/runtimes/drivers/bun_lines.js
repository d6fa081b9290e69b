'use strict';
// Finds the line and column of a cell from those of what Bun wrote for it, which has no source map. Both consist of the
// same words in the same order, but for types that were taken out and for what was put around them.

const WORDS = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|[\p{L}_$][\p{L}\p{N}_$]*|\d[\w.]*|[=+\-*/%<>!&|^~?:.[\]`]+/gu;
// How many words may lie between one that both have and the next.
const AHEAD = 400;

function words(text) {
  const found = [];
  let line = 1;
  let start = 0;
  let read = 0;
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    for (let at = text.indexOf('\n', read); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) [line, start] = [line + 1, at + 1];
    read = index;
    if (/^\/[/*]/.test(word)) continue;
    found.push({ word: /^['"]/.test(word) ? word.slice(1, -1) : word, line, column: index - start + 1 });
  }
  return found;
}

/** Return a function that leads from a line and column of `written` to those of `source`; it looks when first called. */
exports.between = (source, written) => {
  let pairs = null;
  const align = () => {
    const theirs = words(source);
    // Above the function that holds the cell are only names of its variables.
    const body = /^\((?:async )?\(\) => \{$/m.exec(written);
    const first = body ? written.slice(0, body.index).split('\n').length + 1 : 1;
    pairs = [];
    let next = 0;
    const ours = words(written).filter((item) => item.line >= first);
    for (const [at, item] of ours.entries()) {
      for (let look = next; look < Math.min(next + AHEAD, theirs.length); look++) {
        if (theirs[look].word !== item.word) continue;
        const follows = at + 1 < ours.length && look + 1 < theirs.length && ours[at + 1].word === theirs[look + 1].word;
        if (look !== next && !follows) continue;
        pairs.push([item, theirs[look]]);
        next = look + 1;
        break;
      }
    }
  };
  return (line, column) => {
    if (!pairs) align();
    let found = null;
    for (const [ours, theirs] of pairs) {
      if (ours.line > line || (ours.line === line && ours.column > column)) break;
      found = [theirs.line, theirs.column];
    }
    return found;
  };
};
