'use strict';
// TypeScript as JavaScript. Node.js puts blanks where types stood, so that lines and columns stay; what is more than a
// type, such as an enum, is rewritten, and a source map says where it stood.

const keepPlace = (line, column) => [line, column];
exports.keepPlace = keepPlace;

// The program need not know that this is experimental: no warning is shown.
function strip(source, options) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return require('module').stripTypeScriptTypes(source, options);
  } finally {
    process.emitWarning = emitWarning;
  }
}

// Remove the types from a source: `code` without them, and `place`, which maps a line and column of it, counted from
// one, to those of the source. For what is no TypeScript there is a `problem` instead, and its `line`.
exports.stripTypes = (source) => {
  const { SourceMap } = require('module');
  try {
    try {
      return { code: strip(source), place: keepPlace };
    } catch (error) {
      if (error.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw error;
    }
    const written = strip(source, { mode: 'transform', sourceMap: true });
    const [code, url] = written.split('\n//# sourceMappingURL=');
    const map = new SourceMap(JSON.parse(Buffer.from(url.split('base64,')[1], 'base64').toString()));
    const place = (line, column) => {
      const { originalLine, originalColumn } = map.findEntry(line - 1, column - 1);
      return originalLine === undefined ? [line, column] : [originalLine + 1, originalColumn + 1];
    };
    return { code, place };
  } catch (error) {
    const [, line] = /^:(\d+)\n/.exec(error.stack) || [];
    return { problem: `SyntaxError: ${error.message}`, line: Number(line) || 1, place: keepPlace };
  }
};
