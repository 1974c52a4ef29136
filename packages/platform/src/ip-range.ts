import { isIPv4, isIPv6 } from 'node:net'

/** An IP address as a number; one of IPv4 that is mapped into IPv6 (RFC 4291 section 2.5.5.2) is one of IPv4. */
export interface IpAddress {
  readonly bits: 32 | 128
  readonly value: bigint
}

/** The addresses that begin with the first `prefix` bits of `value`. */
export interface IpRange extends IpAddress {
  readonly prefix: number
}

const MAPPED = 0xffffn

const ofIPv4 = (text: string): bigint =>
  text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n)

function ofIPv6(text: string): bigint {
  const groups = (part: string): bigint[] =>
    part === ''
      ? []
      : part.split(':').flatMap((group) => {
          if (!group.includes('.')) return [BigInt(`0x${group}`)]
          const tail = ofIPv4(group)
          return [tail >> 16n, tail & 0xffffn]
        })
  const [before = '', after] = text.split('::')
  const [head, tail] = [groups(before), groups(after ?? '')]
  const zeros = Array<bigint>(8 - head.length - tail.length).fill(0n)
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | group, 0n)
}

/** `undefined` for what is no address, or one that counts on one link only (`fe80::1%eth0`). */
export function parseAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { bits: 32, value: ofIPv4(text) }
  if (!isIPv6(text) || text.includes('%')) return undefined
  const value = ofIPv6(text)
  return value >> 32n === MAPPED ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value }
}

/** An address, or a network in CIDR notation; also one whose address has bits beyond its prefix. */
export function parseRange(text: string): IpRange | undefined {
  const [, address = '', length] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const parsed = parseAddress(address)
  if (!parsed) return undefined
  const written = isIPv4(address) ? 32 : 128
  const prefix = (length === undefined ? written : Number(length)) - (written - parsed.bits)
  return prefix >= 0 && prefix <= parsed.bits ? { ...parsed, prefix } : undefined
}

const shiftOf = ({ bits, prefix }: IpRange): bigint => BigInt(bits - prefix)

/** The range without the bits that its address has beyond the prefix. */
export const networkOf = (range: IpRange): IpRange => ({
  ...range,
  value: (range.value >> shiftOf(range)) << shiftOf(range),
})

export const isInRange = (range: IpRange, { bits, value }: IpAddress): boolean =>
  range.bits === bits && (range.value ^ value) >> shiftOf(range) === 0n

/** RFC 5952: lower case, no leading zeros, the longest run of zero groups as `::`. */
function textOf({ bits, value }: IpAddress): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, n) => ((value >> BigInt(112 - 16 * n)) & 0xffffn).toString(16))
  const runs = groups.join(':').match(/(?:\b0(?::0)+\b)/g) ?? []
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  const text = groups.join(':')
  if (longest === '') return text
  const at = new RegExp(`(?:^|:)${longest}(?:$|:)`)
  return text.replace(at, '::')
}

/** The one way to write a range: without the prefix where it is a single address. */
export const rangeText = (range: IpRange): string =>
  range.prefix === range.bits ? textOf(range) : `${textOf(range)}/${range.prefix}`
