import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An IP address; one of IPv4 that is mapped into IPv6 (RFC 4291 section 2.5.5.2) is one of IPv4. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** The addresses that begin with the first `prefix` bits of `address`. */
export interface IpRange {
  readonly address: IpAddress
  readonly prefix: number
}

const BITS = { ipv4: 32, ipv6: 128 } as const

/** In groups of hexadecimal digits: the library takes `::10.0.0.1` for an address of IPv4 that is mapped. */
const inGroups = (ipv6: string): string => new URL(`http://[${ipv6}]`).hostname.slice(1, -1)

/** `undefined` for what is no address, or one that counts on one link only (`fe80::1%eth0`). */
export function parseAddress(text: string): IpAddress | undefined {
  // Asked before the library, which also reads IPv4 addresses with fewer parts, or in octal and hexadecimal.
  if (isIPv4(text)) return ipaddr.parse(text)
  return isIPv6(text) && !text.includes('%') ? ipaddr.process(inGroups(text)) : undefined
}

/** An address, or a network in CIDR notation; also one whose address has bits beyond its prefix. */
export function parseRange(text: string): IpRange | undefined {
  const [, written = '', length] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const address = parseAddress(written)
  if (!address) return undefined
  const bits = BITS[address.kind()]
  const bitsWritten = isIPv4(written) ? BITS.ipv4 : BITS.ipv6
  const prefix = (length === undefined ? bitsWritten : Number(length)) - (bitsWritten - bits)
  return prefix >= 0 && prefix <= bits ? { address, prefix } : undefined
}

/** The range without the bits that its address has beyond the prefix. */
export function networkOf({ address, prefix }: IpRange): IpRange {
  const kind = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return { address: kind.networkAddressFromCIDR(`${address.toString()}/${prefix}`), prefix }
}

const OWN_PREFIX = 64

/** What a caller is counted by: the owner of an address of IPv6 owns all of its /64. */
export function network(address: string): string {
  const parsed = isIPv4(address) ? undefined : parseAddress(address)
  if (!parsed) return address
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : rangeText(networkOf({ address: parsed, prefix: OWN_PREFIX }))
}

export const isInRange = (range: IpRange, address: IpAddress): boolean =>
  range.address.kind() === address.kind() && address.match(range.address, range.prefix)

/** The one way to write a range: as RFC 5952 says, and without the prefix where it is a single address. */
export const rangeText = ({ address, prefix }: IpRange): string =>
  prefix === BITS[address.kind()] ? address.toString() : `${address.toString()}/${prefix}`
