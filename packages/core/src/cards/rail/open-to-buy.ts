interface Held {
  readonly balancePaise: bigint
  readonly heldPaise: bigint
}

/** Open to buy: the balance less open holds; nothing where the network forced holds beyond the balance. */
export const openToBuy = ({ balancePaise, heldPaise }: Held): bigint =>
  heldPaise > balancePaise ? 0n : balancePaise - heldPaise
