// A connection to the inspector of Deno: a WebSocket whose client confirms at once what has come. The inspector sends an
// event and an answer in two pieces, and the system holds the second one back until the first is confirmed. A client
// that sends nothing confirms after 40 ms, and cells would take that long. So each piece is answered with a frame that
// means nothing (an unsolicited pong), which WebSocket of Deno cannot send.

import { Buffer } from 'node:buffer';
import crypto from 'node:crypto';
import process from 'node:process';

const TEXT = 0x81;
const PONG = 0x8a;

function makeFrame(kind, text) {
  const bytes = Buffer.from(text);
  const head = [kind];
  // A client masks what it sends; the mask of nothing but zeros leaves it as it is.
  if (bytes.length < 126) head.push(0x80 | bytes.length);
  else if (bytes.length < 65536) head.push(0x80 | 126, bytes.length >> 8, bytes.length & 255);
  else {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    head.push(0x80 | 127, ...length);
  }
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), bytes]);
}

/** The first frame in the bytes, and how many of them it takes; nothing where it is not whole. */
function readFrame(bytes) {
  if (bytes.length < 2) return null;
  let length = bytes[1] & 127;
  let start = 2;
  if (length === 126) {
    if (bytes.length < 4) return null;
    length = bytes.readUInt16BE(2);
    start = 4;
  } else if (length === 127) {
    if (bytes.length < 10) return null;
    length = Number(bytes.readBigUInt64BE(2));
    start = 10;
  }
  if (bytes.length < start + length) return null;
  return { isLast: bytes[0] > 127, kind: bytes[0] & 15, content: bytes.subarray(start, start + length), size: start + length };
}

/** Connect to the address of an inspector; `receive` is called with the text of each message. Resolves to what sends one. */
export async function connect(address, receive) {
  const { hostname, port, pathname, host } = new URL(address);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  connection.setNoDelay(true);
  let written = Promise.resolve();
  const write = (bytes) => {
    const all = async () => {
      for (let at = 0; at < bytes.length; ) at += await connection.write(bytes.subarray(at));
    };
    written = written.then(all).catch(() => {});
  };
  const piece = Buffer.alloc(65536);
  let unread = Buffer.alloc(0);
  const readMore = async () => {
    const count = await connection.read(piece);
    if (count === null) throw new Error('the inspector closed the connection');
    unread = Buffer.concat([unread, piece.subarray(0, count)]);
  };

  const key = crypto.randomBytes(16).toString('base64');
  const words = [`GET ${pathname} HTTP/1.1`, `Host: ${host}`, 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Version: 13'];
  write(Buffer.from(`${words.join('\r\n')}\r\n\r\n`));
  let end;
  while ((end = unread.indexOf('\r\n\r\n')) < 0) await readMore();
  if (!/^HTTP\/1\.1 101 /.test(unread.toString('latin1', 0, end))) throw new Error('the inspector refuses the connection');
  unread = unread.subarray(end + 4);

  const readAll = async () => {
    let parts = [];
    for (;;) {
      for (let frame; (frame = readFrame(unread)); ) {
        unread = unread.subarray(frame.size);
        // Other kinds are for the connection itself.
        if (frame.kind > 2) continue;
        parts.push(frame.content);
        if (!frame.isLast) continue;
        const text = Buffer.concat(parts).toString();
        parts = [];
        receive(text);
      }
      await readMore();
      write(makeFrame(PONG, ''));
    }
  };
  // No request is answered any more, and no cell would end.
  readAll().catch(() => process.exit(1));
  return (text) => write(makeFrame(TEXT, text));
}
