import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Network } from '@svc/contract/config'

const FOUR: readonly (readonly [string, number])[] = [
  // IANA's registry of special addresses: none of them is a public host's.
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

/** Inside 2000::/3, the one range of public IPv6 hosts: what leads elsewhere (Teredo, 6to4) or is for documents. */
const SIX: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [address, prefix] of FOUR) special.addSubnet(address, prefix, 'ipv4')
for (const [address, prefix] of SIX) special.addSubnet(address, prefix, 'ipv6')
const publicSix = new BlockList()
publicSix.addSubnet('2000::', 3, 'ipv6')
const mapped = new BlockList()
mapped.addSubnet('::ffff:0:0', 96, 'ipv6')

export const LOOPBACK: readonly Network[] = [
  { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
  { address: '::1', prefix: 128, family: 'ipv6' },
]

/** Whether webhooks may go to an address: public ones, and those in the networks that the settings allow. */
export function addressRule(allowed: readonly Network[]): (address: string) => boolean {
  const exempt = new BlockList()
  for (const { address, prefix, family } of allowed) exempt.addSubnet(address, prefix, family)
  return (address) => {
    if (isIP(address) === 0) return false
    // A zone names an interface of this host.
    if (address.includes('%')) return false
    if (!isIPv6(address)) return exempt.check(address, 'ipv4') || !special.check(address, 'ipv4')
    if (exempt.check(address, 'ipv6')) return true
    // `BlockList` looks at IPv4 rules for mapped addresses; all other forms that carry an IPv4 address are refused.
    if (mapped.check(address, 'ipv6')) return false
    return publicSix.check(address, 'ipv6') && !special.check(address, 'ipv6')
  }
}
