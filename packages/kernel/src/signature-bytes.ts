import { type Reading, unreadable, visible } from './reading.ts'

const HEX = /^(?:[0-9a-f]{2})+$/i
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/**
 * The bytes of a signature or digest of so many bytes, as hex in any case or as Base64 in either alphabet. The length decides
 * which of the two it is.
 */
export function readSignature(text: string, bytes: number): Reading<Uint8Array> {
  const stated = visible(text)
    .replace(/^(?:hmac-)?sha-?(?:256|512)=/i, '')
    .replace(/^"([^"]*)"$/, '$1')
  if (HEX.test(stated) && stated.length === bytes * 2) return { value: Buffer.from(stated, 'hex') }
  if (BASE64.test(stated)) {
    const read = Buffer.from(stated.replaceAll('-', '+').replaceAll('_', '/'), 'base64')
    if (read.length === bytes) return { value: read }
  }
  return unreadable(`is not ${bytes} bytes in hex or Base64`)
}

/**
 * The elements of a header such as `t=1767225600,v1=5257…`, by name in lower case. Spaces, empty elements (RFC 9110 section
 * 5.6.1.2) and unknown names do no harm.
 */
export function signatureElements(header: string): ReadonlyMap<string, readonly string[]> {
  const elements = new Map<string, string[]>()
  for (const element of header.split(/[,;]/)) {
    const at = element.indexOf('=')
    if (at < 0) continue
    const name = visible(element.slice(0, at)).toLowerCase()
    elements.set(name, [...(elements.get(name) ?? []), visible(element.slice(at + 1))])
  }
  return elements
}
