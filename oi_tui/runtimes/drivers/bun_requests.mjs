// Reads requests for the driver inside Bun, and waits for them in a thread of its own.

import fs from 'node:fs';
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

const { folder, running } = workerData;
const requests = fs.openSync(path.join(folder, 'requests'), 'r');
const piece = Buffer.alloc(65536);
let unread = '';
let interrupted = '';
let begun = 0;
parentPort.postMessage({ ready: true });
for (let size = fs.readSync(requests, piece); size; size = fs.readSync(requests, piece)) {
  const lines = (unread + piece.toString('latin1', 0, size)).split('\n');
  unread = lines.pop();
  for (const line of lines) {
    const [word, nonce, ...rest] = line.split(' ');
    const name = rest.length ? Buffer.from(rest.join(' '), 'latin1').toString() : undefined;
    if (word === 'interrupt') {
      parentPort.postMessage({ interrupt: nonce });
      if (Atomics.load(running, 0) === begun) {
        Atomics.store(running, 1, 1);
        // Asked again: what began to compute just after the signal has missed it.
        if (nonce === interrupted) process.kill(process.pid, 'SIGINT');
      }
      interrupted = nonce;
    } else {
      if (word === 'run') begun++;
      parentPort.postMessage({ request: [word, nonce, name] });
    }
  }
}
parentPort.close();
