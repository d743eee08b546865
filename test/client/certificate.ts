import { generateKeyPairSync, sign } from 'node:crypto';

/** Creates a self-signed certificate, so that none can expire and the repository contains no key. */
export function selfSigned(
  names: readonly string[],
  address = [127, 0, 0, 1],
): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const name = list(set(list(objectId('550403'), der(0x0c, Buffer.from('test')))));
  const hosts = [...names.map((host) => der(0x82, Buffer.from(host))), der(0x87, Buffer.from(address))];
  const extensions = [
    list(objectId('551d13'), der(0x01, Buffer.from([0xff])), octets(list(der(0x01, Buffer.from([0xff]))))),
    list(objectId('551d11'), octets(list(...hosts))),
  ];
  const body = list(
    der(0xa0, integer(2)),
    integer(Date.now() % 2 ** 31),
    ecdsaWithSha256,
    name,
    list(time('20200101000000Z'), time('21200101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, list(...extensions)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  const certificate = list(body, ecdsaWithSha256, der(0x03, signature));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const list = (...parts: Uint8Array[]) => der(0x30, ...parts);
const set = (...parts: Uint8Array[]) => der(0x31, ...parts);
const octets = (part: Uint8Array) => der(0x04, part);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const time = (text: string) => der(0x18, Buffer.from(text));
const ecdsaWithSha256 = list(objectId('2a8648ce3d040302'));

function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return der(0x02, (bytes[0] as number) > 127 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}
