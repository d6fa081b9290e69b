'use strict';
// Waiting as a script would: until the event loop of Node.js has nothing left that keeps a script alive. Node.js says
// so itself, with `beforeExit`, once the driver's own worker does not count.

const net = require('net');
const tty = require('tty');
const timers = require('timers');
// A program may put another in its place.
const { Promise } = globalThis;

// How often a waiting cell looks for connections that its server has accepted meanwhile, in milliseconds.
const LOOK = 50;

exports.watchEventLoop = function watchEventLoop(process, worker) {
  const { setTimeout: later, setImmediate: soon } = timers;
  let onEmpty = () => {};
  const workers = new Set();

  // A method, not a listener: a program may remove all listeners, and the process would then end.
  const { emit } = process;
  const emitted = function (name, ...given) {
    const heard = Reflect.apply(emit, this, [name, ...given]);
    if (name === 'beforeExit') {
      worker.ref();
      soon(onEmpty);
    }
    if (name === 'worker' && given[0] !== worker) {
      workers.add(given[0]);
      given[0].once('exit', () => workers.delete(given[0]));
    }
    return heard;
  };
  Object.defineProperty(process, 'emit', { value: emitted, configurable: true, writable: true });

  const handles = () => process._getActiveHandles().filter((handle) => handle && handle.unref && !(handle instanceof tty.WriteStream));
  const isServing = (each) => each instanceof net.Server || (each instanceof net.Socket && each.server instanceof net.Server);

  // Whether the process stays although nothing is left to wait for, since what runs is being ended.
  let isHeld = false;
  const hold = () => {
    isHeld = true;
    worker.ref();
  };

  // One for each run.
  const begin = () => {
    isHeld = false;
    // What earlier runs left behind is not waited for again, but for the keyboard, whose questions end with their run.
    const old = new Set([...handles().filter((each) => !(each instanceof tty.ReadStream)), ...workers]);
    const released = new Set();
    let over = false;
    let finish;
    const ended = new Promise((resolve) => {
      finish = resolve;
    });

    const release = () => {
      for (const each of [...handles(), ...workers]) {
        if (each === worker || released.has(each) || !(old.has(each) || isServing(each))) continue;
        each.unref();
        released.add(each);
      }
    };

    // Resolves once nothing is left that could go on.
    const empty = () =>
      new Promise((resolve) => {
        if (over) return;
        onEmpty = resolve;
        if (!isHeld) worker.unref();
      });

    return {
      // The promise's value; `otherwise()` where the event loop is empty, so that nothing can settle it any more; nothing
      // where the run has ended meanwhile, as by an error in a timer.
      waitFor: (promise, otherwise) => Promise.race([promise, empty().then(otherwise), ended]),

      // Wait for all that the run has begun, but not for servers nor for what they have accepted.
      async waitForAll() {
        let waits = true;
        const end = () => {
          waits = false;
        };
        ended.then(end);
        while (waits && !over) {
          release();
          await Promise.race([empty().then(end), ended, new Promise((resolve) => later(resolve, LOOK).unref())]);
        }
      },

      // Wait no more, for whatever reason. What was not waited for counts again.
      end() {
        if (over) return;
        over = true;
        onEmpty = () => {};
        worker.ref();
        for (const each of released) each.ref();
        finish();
      },

      // End the threads that the run has started.
      endThreads() {
        for (const each of workers) if (!old.has(each)) each.terminate();
      },
    };
  };
  return { begin, hold };
};
