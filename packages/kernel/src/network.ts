/** IPv6 callers own a whole /64: it counts as one address. */
export function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address
}
