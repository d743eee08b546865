import { generateKeyPairSync, sign } from 'node:crypto';

/** Creates a self-signed certificate, so that none can expire and the repository contains no key. */
export function createCertificate(
  names: readonly string[],
  address = [127, 0, 0, 1],
): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const name = encodeList(encodeSet(encodeList(objectId('550403'), encodeDer(0x0c, Buffer.from('test')))));
  const hosts = [
    ...names.map((host) => encodeDer(0x82, Buffer.from(host))),
    encodeDer(0x87, Buffer.from(address)),
  ];
  const extensions = [
    encodeList(
      objectId('551d13'),
      encodeDer(0x01, Buffer.from([0xff])),
      encodeOctets(encodeList(encodeDer(0x01, Buffer.from([0xff])))),
    ),
    encodeList(objectId('551d11'), encodeOctets(encodeList(...hosts))),
  ];
  const body = encodeList(
    encodeDer(0xa0, encodeInteger(2)),
    encodeInteger(Date.now() % 2 ** 31),
    ecdsaWithSha256,
    name,
    encodeList(encodeTime('20200101000000Z'), encodeTime('21200101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(0xa3, encodeList(...extensions)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  const certificate = encodeList(body, ecdsaWithSha256, encodeDer(0x03, signature));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function encodeDer(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const encodeList = (...parts: Uint8Array[]) => encodeDer(0x30, ...parts);
const encodeSet = (...parts: Uint8Array[]) => encodeDer(0x31, ...parts);
const encodeOctets = (part: Uint8Array) => encodeDer(0x04, part);
const objectId = (hex: string) => encodeDer(0x06, Buffer.from(hex, 'hex'));
const encodeTime = (text: string) => encodeDer(0x18, Buffer.from(text));
const ecdsaWithSha256 = encodeList(objectId('2a8648ce3d040302'));

function encodeInteger(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return encodeDer(0x02, (bytes[0] as number) > 127 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}
