/** What the simulated switch does with a payment, besides carrying it at once. */
export interface Behaviour {
  readonly declined?: boolean
  /** Milliseconds before the bank's notice goes out. */
  readonly delayMs?: number
  /** How often the same notice is sent. */
  readonly notices?: number
}

interface Magic {
  /** Payments whose paise are these behave so. */
  readonly paise: string
  /** Payments from this payer behave so, whatever the amount. */
  readonly payerVpa: string
  readonly what: string
  readonly behaviour: Behaviour
}

/** Amounts and payers with which the sandbox fails on purpose. Documented in `docs/reference/sandbox.md`. */
export const MAGIC: readonly Magic[] = [
  {
    paise: '91',
    payerVpa: 'declined@sandbox',
    what: 'The payer’s bank declines: no credit, no notice',
    behaviour: { declined: true },
  },
  {
    paise: '92',
    payerVpa: 'delayed@sandbox',
    what: 'The credit is notified after 2 seconds',
    behaviour: { delayMs: 2_000 },
  },
  {
    paise: '93',
    payerVpa: 'duplicated@sandbox',
    what: 'The same credit is notified three times',
    behaviour: { notices: 3 },
  },
  {
    paise: '94',
    payerVpa: 'late@sandbox',
    what: 'The credit is notified after 10 seconds: cancel the code meanwhile, and it is refunded',
    behaviour: { delayMs: 10_000 },
  },
]

const FAILED_REFUND_PAISE = '95'
const LEFT_REFUND_PAISE = '96'
const endsWith = (amountPaise: bigint, paise: string): boolean =>
  String(amountPaise).padStart(2, '0').endsWith(paise)

/** Whether the simulated bank fails a merchant's refund. */
export const refundFails = (amountPaise: bigint): boolean => endsWith(amountPaise, FAILED_REFUND_PAISE)
/** Whether the simulated bank leaves it alone, for those who play the bank themselves. */
export const refundIsLeft = (amountPaise: bigint): boolean => endsWith(amountPaise, LEFT_REFUND_PAISE)

export function behaviourOf(amountPaise: bigint, payerVpa: string): Behaviour {
  const paise = String(amountPaise % 100n).padStart(2, '0')
  return MAGIC.find((magic) => magic.payerVpa === payerVpa || magic.paise === paise)?.behaviour ?? {}
}

/** The magic values as a Markdown table, for the generated reference. */
export function magicTable(): string {
  const rows = MAGIC.map(
    ({ paise, payerVpa, what }) => `| \`….${paise}\`, such as \`100.${paise}\` | \`${payerVpa}\` | ${what} |`,
  )
  rows.push(
    `| refund of \`….${FAILED_REFUND_PAISE}\`, such as \`10.${FAILED_REFUND_PAISE}\` | | The bank fails the refund of a merchant |`,
    `| refund of \`….${LEFT_REFUND_PAISE}\`, such as \`10.${LEFT_REFUND_PAISE}\` | | The bank leaves it to you: play the bank with \`svc admin refund\` or signed notices |`,
  )
  return ['| Amount that ends in | or payer | What happens |', '|---|---|---|', ...rows, ''].join('\n')
}
