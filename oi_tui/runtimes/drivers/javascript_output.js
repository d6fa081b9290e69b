'use strict';
// Standard output and standard error of the program: waits until they are written, repairs them after an interrupt, and
// tells when a cell has replaced them.

const fs = require('fs');
const tty = require('tty');
const util = require('util');
const { setTimeout: wait } = require('timers');
// A program may put others in their place.
const { process, Promise } = globalThis;

exports.watchOutput = function watchOutput(terminal, language) {
  // Node.js reports these two as writable after their end, although nothing can be written to them any more.
  const destroyed = new WeakSet();
  for (const stream of [process.stdout, process.stderr]) {
    const destroy = stream._destroy;
    stream._destroy = function (...given) {
      destroyed.add(stream);
      return destroy.apply(this, given);
    };
  }

  const listStreams = () => [process.stdout, process.stderr].filter((stream) => stream && stream._writableState);

  // Open again what the last run closed, before another one begins.
  const restore = () => {
    endProbe();
    for (const [fd, name] of ['stdin', 'stdout', 'stderr'].entries()) {
      let isOpen = false;
      try {
        isOpen = fs.fstatSync(fd) && (fd === 0 || (process[name].writable && !destroyed.has(process[name])));
      } catch {
        fs.openSync('/dev/tty', fd ? 'w' : 'r');
      }
      if (isOpen || fd === 0) continue;
      const value = new tty.WriteStream(fd);
      Object.defineProperty(process, name, { value, configurable: true, enumerable: true, writable: true });
      console[`_${name}`] = value;
    }
    for (const stream of listStreams()) {
      if (stream._writableState.writing && stream._handle && !stream._handle.writeQueueSize) reset(stream);
    }
    if (process.stdout._refreshSize) process.stdout._refreshSize();
  };

  // Wait until a stream is written; false where nothing moves it any more. Where the terminal is full, the event loop
  // writes the rest, after the code that printed it.
  const drain = async (stream) => {
    const { length, writing, corked } = stream._writableState;
    if (!length && !writing && !corked) return true;
    let sent = null;
    for (let idle = 0; idle < 3; idle++) {
      await new Promise((resolve) => wait(resolve, 1));
      const state = stream._writableState;
      if (!state.length && !state.writing && !state.corked) return true;
      const handle = stream._handle || {};
      if (handle.bytesWritten !== sent || handle.writeQueueSize) idle = 0;
      sent = handle.bytesWritten;
    }
    return false;
  };

  // Code that is ended in the middle of a write leaves a stream that waits for that write for ever. What it would do
  // after the write, such as the next one, must not be done any more. What the terminal has not taken by then, which may
  // be much, is not printed either.
  const mend = async (stream) => {
    // A termination may come between any two of these: the next call does the rest.
    if (discarding.has(stream)) for (const name of ['_write', '_writev']) delete stream[name];
    discarding.delete(stream);
    const state = stream._writableState;
    if (state.writecb) state.writecb = () => {};
    const unsent = (state.buffered || []).slice(state.bufferedIndex);
    state.length -= unsent.reduce((sum, entry) => sum + entry.chunk.length, 0);
    state.pendingcb -= unsent.length;
    Object.assign(state, { buffered: [], bufferedIndex: 0 });
    if (!(await drain(stream))) reset(stream);
  };
  const reset = (stream) => {
    const state = stream._writableState;
    Object.assign(state, { writing: false, bufferProcessing: false, sync: true, needDrain: false });
    Object.assign(state, { corked: 0, length: 0, writelen: 0, writecb: null, pendingcb: 0 });
    Object.assign(state, { buffered: [], bufferedIndex: 0 });
  };

  // What code that is about to be ended has not written yet may be much, and would be written as a whole once it has
  // ended: it is dropped. A program's own way of writing is left alone.
  const discarding = new Set();
  const discard = () => {
    for (const stream of listStreams()) {
      if (discarding.has(stream) || Object.hasOwn(stream, '_write') || Object.hasOwn(stream, '_writev')) continue;
      discarding.add(stream);
      stream._write = stream._writev = () => {};
    }
  };
  const stopDiscarding = async () => {
    for (const stream of [...discarding]) await mend(stream);
  };
  const flush = async () => {
    for (const stream of listStreams()) await (discarding.has(stream) ? mend(stream) : drain(stream));
  };

  // What a cell has put in the place of the output, and the code that undoes it; two empty texts for nothing. What only
  // passes on what it is given, such as a counter, is left alone.
  const original = { stream: process.stdout, write: process.stdout.write, log: console.log };
  const findReplacement = () => {
    const { stdout } = process;
    if (stdout !== original.stream) {
      if (stdout instanceof tty.WriteStream || !stdout) {
        Object.assign(original, { stream: stdout, write: stdout && stdout.write });
        return ['', ''];
      }
      const name = typeof stdout.path === 'string' ? util.inspect(stdout.path) : 'another stream';
      // The console keeps the stream that it used first.
      return [name, "Object.defineProperty(process, 'stdout', { value: (console._stdout = new (require('tty').WriteStream)(1)) })"];
    }
    if (stdout.write !== original.write && !passesOn(stdout, () => stdout.write(''))) {
      return ['a function of its own', 'delete process.stdout.write'];
    }
    if (console.log !== original.log && !passesOn(stdout, () => console.log(''))) {
      return ['a console.log of its own', 'console.log = console.info'];
    }
    return ['', ''];
  };
  const passesOn = (stream, write) => {
    const state = stream._writableState;
    if (state.writing || state.corked || state.length) return true;
    probe = { stream, before: Object.getOwnPropertyDescriptor(stream, '_write') };
    let isReached = false;
    stream._write = (chunk, encoding, done) => {
      isReached = true;
      done();
    };
    try {
      write();
    } catch {
      // Whoever calls it sees the error, which is no silence.
      return true;
    } finally {
      endProbe();
    }
    return isReached;
  };
  // What was put in the place of a stream's own way of writing. A termination skips `finally`, so the next run looks, too.
  let probe = null;
  const endProbe = () => {
    if (!probe) return;
    const { stream, before } = probe;
    if (before) Object.defineProperty(stream, '_write', before);
    else delete stream._write;
    probe = null;
  };

  // Say so when a cell has replaced the output, since later cells would be silent.
  let replacement = '';
  let since = 0;
  const tellReplacement = (url) => {
    const [name, wayBack] = findReplacement();
    if (name !== replacement) since = Number(/\d+/.exec(url)[0]);
    replacement = name;
    if (!name) return;
    fs.writeSync(terminal, `(${language}'s output goes to ${name} since cell ${since}; ${wayBack} brings it back.)\n`);
  };

  return { restore, flush, discard, stopDiscarding, tellReplacement, mend: () => Promise.all(listStreams().map(mend)) };
};
