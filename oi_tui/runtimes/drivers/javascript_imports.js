'use strict';
// Rewrite import declarations, which an evaluated script may not have, as dynamic imports; of an export, keep the
// declaration. Texts and comments that only look like these stay.
exports.rewriteImports = (source) => {
  const texts = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;
  const inText = (text) => {
    const ranges = [...text.matchAll(texts)].map((found) => [found.index, found.index + found[0].length]);
    return (at) => ranges.some(([from, to]) => from < at && at < to);
  };
  const replace = (text, pattern, by) => {
    if (!pattern.test(text)) return text;
    pattern.lastIndex = 0;
    const isText = inText(text);
    return text.replace(pattern, (...found) => {
      const at = found[found.length - 2] + found[0].search(/\S/);
      return isText(at + (/^\W/.test(found[0].trimStart()) ? 1 : 0) + 1) ? found[0] : by(...found);
    });
  };
  const attributes = /(?:\s*(?:with|assert)\s*\{[^}]*\})?/.source;
  const from = new RegExp(`((?:^|;)[ \\t]*)import\\s+(?:([\\w$]+)\\s*,?\\s*)?(?:\\*\\s*as\\s+([\\w$]+)|\\{([^}]*)\\})?\\s*from\\s*(['"][^'"\\n]+['"])${attributes}`, 'gm');
  let text = replace(source, from, (all, indent, whole, space, names, name) => {
    const parts = [];
    const lines = '\n'.repeat(all.split('\n').length - 1);
    if (whole) parts.push(`const ${whole} = (await __oi.import(${name})).default`);
    if (space) parts.push(`const ${space} = await __oi.import(${name})`);
    if (names) parts.push(`const {${names.replace(/\s+as\s+/g, ': ').replace(/\s+/g, ' ')}} = await __oi.import(${name})`);
    return parts.length ? `${indent}${parts.join('; ')};${lines}` : all;
  });
  text = replace(text, /((?:^|;)[ \t]*)import\s*(['"][^'"\n]+['"])/gm, (all, indent, name) => `${indent}await __oi.import(${name});`);
  text = replace(text, /((?:^|;)[ \t]*)export\s+(?=(?:const|let|var|function|class|async)\b)/gm, (all, indent) => indent);
  text = replace(text, /((?:^|;)[ \t]*)export\s+default\s+(?=(?:async\s+)?(?:function\b\s*\*?|class)\s*(?!extends\b)[\w$])/gm, (all, indent) => indent);
  text = replace(text, /((?:^|;)[ \t]*)export\s+default\b/gm, (all, indent) => `${indent}module.exports.default =`);
  text = replace(text, /((?:^|;)[ \t]*)export\s*\{[^}]*\}(?!\s*from\b)/gm, (all, indent) => indent + '\n'.repeat(all.split('\n').length - 1));
  text = replace(text, /(^|[^.\w$'"`])import\s*\(/g, (all, before) => `${before}__oi.import(`);
  return replace(text, /(^|[^.\w$'"`])import\s*\.\s*meta\b/g, (all, before) => `${before}__oi.meta`);
};
