// Colours code: comments, strings, numbers and keywords. Every piece becomes text of a span, never HTML.
const WORDS = (text) => new Set(text.split(" "));
const KEYWORDS = {
  python: WORDS("and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield"),
  c: WORDS("abstract async await boolean break case catch class const continue default delete do double else enum export extends false final finally float for from function if implements import in instanceof int interface let long new null of package private protected public return static super switch this throw throws true try type typeof undefined var void while yield"),
  shell: WORDS("break case continue do done elif else esac exit export false fi for function if in local return set shift then true unset until while"),
  sql: WORDS("and as asc between by case create delete desc distinct drop else end exists from group having in inner insert into is join left like limit not null on or order outer right select set table then union update values view when where with"),
  other: WORDS("and begin break class def do else elseif elsif end ensure false FALSE for foreach function global if in let local module mutable my next nil not NULL or our param repeat require rescue return self struct sub then true TRUE unless until use using when while"),
};
const FAMILY = {
  python: "python", javascript: "c", typescript: "c", java: "c", react: "c", c: "c", cpp: "c", rust: "c", go: "c", php: "c", shell: "shell", bash: "shell", sql: "sql",
};
const COMMENT = { c: "\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)", sql: "--[^\\n]*" };
const MARKED_BY_DASHES = new Set(["lua", "applescript"]);
const STRING = "\"\"\"[\\s\\S]*?(?:\"\"\"|$)|'''[\\s\\S]*?(?:'''|$)|`(?:\\\\[\\s\\S]|[^`\\\\])*(?:`|$)|\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?";
const MOST = 60_000; // characters; longer code is shown without colours

function pattern(language, family) {
  const dashes = MARKED_BY_DASHES.has(language) ? "--[^\\n]*" : "#[^\\n]*";
  return new RegExp(`(${COMMENT[family] || dashes})|(${STRING})|(\\b\\d[\\w.]*)|([A-Za-z_$][\\w$]*)`, "g");
}

function* pieces(code, language) {
  const family = FAMILY[language] || "other";
  let end = 0;
  for (const found of code.matchAll(pattern(language, family))) {
    const [text, comment, string, number, word] = found;
    const known = word !== undefined && KEYWORDS[family].has(family === "sql" ? word.toLowerCase() : word);
    const kind = comment ? "comment" : string ? "string" : number ? "number" : known ? "keyword" : "";
    if (!kind) continue;
    yield ["", code.slice(end, found.index)];
    yield [kind, text];
    end = found.index + text.length;
  }
  yield ["", code.slice(end)];
}

// The lines of code, each an element of its own, so that one can be marked.
export function lines(code, language) {
  const text = (code || "").replace(/\n$/, "");
  const made = [newLine()];
  const parts = text.length > MOST || language === "html" ? [["", text]] : pieces(text, language);
  for (const [kind, part] of parts) {
    part.split("\n").forEach((line, number) => {
      if (number) made.push(newLine());
      if (!line) return;
      const piece = kind ? document.createElement("span") : document.createTextNode(line);
      if (kind) [piece.className, piece.textContent] = [kind, line];
      made.at(-1).append(piece);
    });
  }
  return made;
}

function newLine() {
  const line = document.createElement("span");
  line.className = "line";
  return line;
}
