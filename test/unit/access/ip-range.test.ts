import { BlockList, isIP } from 'node:net'
import { readLimits } from '@svc/core/tenants/credential-limits'
import { isInRange, network, parseAddress, parseRange, rangeText } from '@svc/platform/ip-range'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const holds = (range: string, address: string): boolean => {
  const parsed = parseAddress(address)
  return parsed !== undefined && isInRange(parseRange(range)!, parsed)
}

test.each<[range: string, address: string, isIn: boolean]>([
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['203.0.113.0/24', '203.0.113.255', true],
  ['203.0.113.0/24', '203.0.114.0', false],
  ['203.0.113.0/25', '203.0.113.128', false],
  ['10.0.0.0/8', '::ffff:10.9.8.7', true],
  ['10.0.0.0/8', '::FFFF:0A09:0807', true],
  ['::ffff:10.0.0.0/104', '10.9.8.7', true],
  ['::ffff:10.0.0.7', '10.0.0.7', true],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1', true],
  ['2001:db8::', '203.0.113.7', false],
  ['::1', '127.0.0.1', false],
  ['127.0.0.1', '::1', false],
  // An IPv4-compatible address (deprecated by RFC 4291) and one behind NAT64 are addresses of IPv6.
  ['10.0.0.0/8', '::10.0.0.1', false],
  ['10.0.0.0/8', '64:ff9b::10.0.0.1', false],
])('of %s and %s: %s', (range, address, isIn) => {
  expect(holds(range, address)).toBe(isIn)
})

test.each([
  '',
  'unknown',
  '203.0.113.7:443',
  '[2001:db8::1]',
  'fe80::1%eth0',
  '203.0.113',
  '0xcb.0.113.7',
  ' 10.0.0.1',
])('%j is not an address, and so in no range', (text) => expect(parseAddress(text)).toBeUndefined())

const ipv4 = fc.ipV4()
const ipv6 = fc.ipV6()

describe('whatever the range', () => {
  test('contains the addresses that Node’s own lists contain', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.tuple(ipv4, ipv4, fc.integer({ min: 1, max: 32 })),
          fc.tuple(ipv6, ipv6, fc.integer({ min: 1, max: 128 })),
        ),
        ([base, address, prefix]) => {
          const list = new BlockList()
          const family = (text: string) => (isIP(text) === 4 ? 'ipv4' : 'ipv6')
          list.addSubnet(base, prefix, family(base))
          // Mapped addresses, which Node compares in another way, are in the table above.
          fc.pre(parseAddress(base)!.kind() === `ipv${isIP(base)}`)
          fc.pre(parseAddress(address)!.kind() === `ipv${isIP(address)}`)
          for (const one of [address, base])
            expect(holds(`${base}/${prefix}`, one)).toBe(list.check(one, family(one)))
        },
      ),
    )
  })

  test('its text parses to the same range, and writes the address as the URL parser does', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), (address) => {
        const range = parseRange(address)!
        expect(parseRange(rangeText(range))).toEqual(range)
        if (range.address.kind() === 'ipv6')
          expect(`[${rangeText(range)}]`).toBe(new URL(`http://[${address}]`).hostname)
      }),
    )
  })
})

const problemOf = (address: string) => {
  try {
    return readLimits('merchant', { addresses: [address] }).addresses
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  ['203.0.113.7/24', 'addresses[0] has bits beyond its prefix; the network is 203.0.113.0/24'],
  ['2001:db8::1/32', 'addresses[0] has bits beyond its prefix; the network is 2001:db8::/32'],
  ['0.0.0.0/0', 'addresses[0] must not be every address; leave the list empty for that'],
  ['::/0', 'addresses[0] must not be every address; leave the list empty for that'],
])('%s: %s', (address, problem) => expect(problemOf(address)).toBe(problem))

test.each([
  '10.0.0.0/33',
  '2001:db8::/129',
  '::ffff:10.0.0.0/95',
  '10.0.0.0/08',
  '10.0.0.0/',
  'a.example',
  '10.0.0.0-10.0.0.9',
])('%s is rejected with the expected form', (address) =>
  expect(problemOf(address)).toMatch(/^addresses\[0\] must be an IP address or a network in CIDR notation/),
)

test('each network is stored once, in its canonical form', () => {
  const addresses = [
    '10.0.0.0/8',
    '::ffff:10.0.0.0/104',
    '2001:DB8:0::/32',
    '2001:db8::/32',
    ' 203.0.113.7/32',
  ]
  expect(readLimits('merchant', { addresses }).addresses).toEqual([
    '10.0.0.0/8',
    '2001:db8::/32',
    '203.0.113.7',
  ])
})

test('scopes of the other kind of tenant are rejected, each by its place', () => {
  expect(() => readLimits('merchant', { scopes: ['qr_codes:read', 'cards:read'] })).toThrow(
    /^scopes\[1\] must be one of/,
  )
  expect(() => readLimits('partner', { scopes: ['refunds:write'] })).toThrow(/^scopes\[0\] must be one of/)
})

test('a caller counts by its IPv4 address, or by the /64 of its IPv6 address, however that is written', () => {
  expect(network('203.0.113.7')).toBe('203.0.113.7')
  expect(network('::ffff:203.0.113.7')).toBe('203.0.113.7')
  const sameNetwork = [
    '2001:db8::aaaa:bbbb:cccc:dddd',
    '2001:db8::1',
    '2001:DB8:0:0:ffff::',
    '2001:db8:0:0:1:2:3:4',
  ]
  expect(new Set(sameNetwork.map(network))).toEqual(new Set(['2001:db8::/64']))
  expect(network('2a01:4f8:c17::9')).toBe(network('2a01:4f8:c17:0:1::2'))
  expect(network('2a01:4f8:c17:1::9')).not.toBe(network('2a01:4f8:c17::9'))
  expect(network('fe80::1%eth0')).toBe('fe80::1%eth0')
})
