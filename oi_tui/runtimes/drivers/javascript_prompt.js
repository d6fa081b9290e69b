'use strict';
// Asks the person for a line, in a way that an interrupt ends: a wait in the system would go on.

const fs = require('fs');

const never = new Int32Array(new SharedArrayBuffer(4));

function readNow(fd, piece) {
  try {
    return fs.readSync(fd, piece);
  } catch (error) {
    if (error.code === 'EAGAIN') return null;
    throw error;
  }
}

/** The function `prompt` of web pages; `send` tells the application that it waits. */
exports.makePrompt = (send) => (question = '', otherwise = null) => {
  const text = question ? `${question} ` : '';
  process.stdout.write(text);
  send({ event: 'input', prompt: text }, true);
  const piece = Buffer.alloc(4096);
  let line = '';
  const keyboard = fs.openSync('/dev/tty', fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  try {
    while (!line.endsWith('\n')) {
      const size = readNow(keyboard, piece);
      if (size === 0) break;
      if (size) line += piece.toString('utf8', 0, size);
      // Nothing ends a wait in the system; it is this one that an interrupt ends.
      else Atomics.wait(never, 0, 0, 15);
    }
  } finally {
    fs.closeSync(keyboard);
    send({ event: 'input_end' }, true);
  }
  return line === '' ? otherwise : line.replace(/\r?\n$/, '');
};
