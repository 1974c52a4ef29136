/** What is counted: paise of rupees, or coins. No transfer has one on its one side and another on the other. */
export type Unit = 'INR' | 'COIN'

interface KindOfAccount {
  readonly unit: Unit
  readonly group: 'asset' | 'liability' | 'equity' | 'income' | 'expense' | 'coins'
  /** The side on which it grows: assets and expenses by debits, liabilities and income by credits. */
  readonly side: 'debit' | 'credit'
  /** Whether its balance may go beyond nothing, to the other side. */
  readonly isBounded: boolean
  /** Whether what is counted here is over, and nothing takes it back: any other kind is debited and credited. */
  readonly isFinal?: true
  /** For a list of accounts. */
  readonly title: string
  readonly meaning: string
}

const asset = { unit: 'INR', group: 'asset', side: 'debit', isBounded: false } as const
const liability = { unit: 'INR', group: 'liability', side: 'credit', isBounded: true } as const
// What of it goes back may belong to a year that is closed.
const income = { ...liability, group: 'income', isBounded: false } as const
const expense = { ...asset, group: 'expense' } as const
const coins = { unit: 'COIN', group: 'coins', side: 'credit', isBounded: true } as const

/** Every kind of account, said once: for the ledger, the books, the console and the reference. */
export const CHART_OF_ACCOUNTS = {
  upi_clearing: {
    ...asset,
    title: 'UPI clearing',
    meaning: 'Money that the bank of the UPI rail has received for a merchant and owes us',
  },
  funding_clearing: {
    ...asset,
    title: 'Funding clearing',
    meaning: 'Money that a partner paid in for cards, less what was paid back to it',
  },
  bank: {
    ...asset,
    title: 'Escrow of merchants',
    meaning:
      'The share of a tenant in the escrow account of merchants at the bank; may be below zero, all shares together are not',
  },
  ppi_bank: {
    ...asset,
    title: 'Escrow of cards',
    meaning: 'The share of a tenant in the escrow account of cards at the bank',
  },
  own_funds: {
    ...asset,
    title: 'Own funds',
    meaning: 'Our own current account at the bank, with what of it came from fees of a merchant in its books',
  },
  settlement_unmatched: {
    ...liability,
    isBounded: false,
    title: 'Settlement lines without a match',
    meaning: 'What the bank of the UPI rail settled that fits no payment, refund or dispute yet',
  },
  network_unmatched: {
    ...liability,
    isBounded: false,
    title: 'Network lines without a match',
    meaning: 'What the card network settled that fits no card message yet',
  },
  bank_exceptions: {
    ...asset,
    title: 'Bank exceptions',
    meaning: 'What a bank took from an account without an explanation, until it gives it back',
  },
  accrued_fees: {
    ...asset,
    title: 'Accrued fees',
    meaning:
      'Fees and GST of accepted payments that no payout has deducted, and the merchant has not paid otherwise',
  },
  payable: {
    ...liability,
    title: 'Payable to merchant',
    meaning: 'Accepted payments that we owe the merchant',
  },
  upi_refunds: {
    ...liability,
    title: 'Refunds to payers',
    meaning: 'Credits that were not accepted, until the bank has returned them to their payers',
  },
  suspense: {
    ...liability,
    title: 'Suspense',
    meaning: 'Credits that fit no QR code, until they are assigned or returned',
  },
  merchant_advances: {
    ...asset,
    title: 'Advances to merchants',
    meaning:
      'Refunds and disputes beyond what was payable to the merchant, to be deducted from its settlement',
  },
  disputes: {
    ...liability,
    title: 'Disputed payments',
    meaning: 'Payments that payers dispute, taken from the merchant until the dispute is decided',
  },
  inter_tenant: {
    ...asset,
    title: 'Between tenants',
    meaning:
      'What the platform has received for a merchant, or owes one: all tenants together add up to zero',
  },
  payouts_in_transit: {
    ...liability,
    title: 'Payouts in transit',
    meaning: 'What is being paid out to the merchant, until the bank has paid it',
  },
  payout_exceptions: {
    ...asset,
    title: 'Payout exceptions',
    meaning:
      'Payouts that the bank reported as failed and paid after all, where their money had been paid again or spent, until the merchant or the bank returns it',
  },
  refund_exceptions: {
    ...asset,
    title: 'Refund exceptions',
    meaning:
      'Refunds that the bank reported as failed and made after all, where their money was spent or not left of the payment, until the merchant or the bank returns it',
  },
  fee_income: {
    ...income,
    title: 'Fee income',
    meaning: 'Fees that the merchant was charged for its payments',
  },
  output_cgst: {
    ...liability,
    isBounded: false,
    title: 'Output CGST',
    meaning: 'Central GST on fees, owed to the state',
  },
  output_sgst: {
    ...liability,
    isBounded: false,
    title: 'Output SGST',
    meaning: 'State GST on fees, owed to the state',
  },
  output_igst: {
    ...liability,
    isBounded: false,
    title: 'Output IGST',
    meaning: 'Integrated GST on fees, owed to the state',
  },
  gst_input: {
    ...asset,
    title: 'GST input credit',
    meaning: 'GST that banks and networks charged us, set against what we owe',
  },
  tds_receivable: {
    ...asset,
    title: 'Tax deducted at source',
    meaning: 'Tax that merchants deducted on our fees and certified, until the tax office refunds it',
  },
  rail_charges: {
    ...expense,
    title: 'Charges of the rail',
    meaning: 'What the bank of the UPI rail charged us',
  },
  network_charges: {
    ...expense,
    title: 'Charges of the network',
    meaning: 'What the card network charged us',
  },
  interchange_income: {
    ...income,
    title: 'Interchange',
    meaning: 'What the card network pays us for what cards have spent',
  },
  other_income: {
    ...income,
    title: 'Other income',
    meaning: 'Interest and the like on our bank accounts, and what we owed that was never claimed',
  },
  write_offs: {
    ...expense,
    title: 'Written off',
    meaning: 'What was owed to us and was given up',
  },
  owner_equity: {
    ...liability,
    group: 'equity',
    isBounded: false,
    title: 'Equity of the owner',
    meaning: 'What the owner paid in, and profits, less what was paid to the owner',
  },
  card_funding: {
    ...liability,
    title: 'Card account',
    meaning: 'What a company has paid in and not yet put on cards',
  },
  card: {
    ...liability,
    title: 'Card',
    meaning: 'What a card can spend',
  },
  unclaimed: {
    ...liability,
    title: 'Unclaimed',
    meaning:
      'Remaining balances of blocked or expired cards, on their way back to the card accounts; reversible as long as they wait',
  },
  card_settlement: {
    ...liability,
    isBounded: false,
    title: 'Card settlement',
    meaning: 'What cards have spent, owed to the card network',
  },
  card_exceptions: {
    ...asset,
    title: 'Card exceptions',
    meaning:
      'What the card network took beyond a card or an authorisation, less refunds that match no capture, until it is resolved',
  },
  coins_issued: {
    ...coins,
    side: 'debit',
    isBounded: false,
    title: 'Coins issued',
    meaning: 'All coins that a partner ever awarded, less those that were voided',
  },
  coins: { ...coins, title: 'Coins of a user', meaning: 'What a user can redeem' },
  coins_pending: {
    ...coins,
    title: 'Pending coins of a user',
    meaning: 'Coins that were awarded to a user and are not active yet',
  },
  coins_redeemed: {
    ...coins,
    isFinal: true,
    title: 'Coins redeemed',
    meaning: 'Coins that users have redeemed',
  },
  coins_expired: {
    ...coins,
    isFinal: true,
    title: 'Coins expired',
    meaning: 'Coins that expired before they were redeemed',
  },
} as const satisfies Readonly<Record<string, KindOfAccount>>

export type AccountKind = keyof typeof CHART_OF_ACCOUNTS

/** All kinds, in the order of the chart. */
export const ACCOUNT_KINDS = Object.keys(CHART_OF_ACCOUNTS) as AccountKind[]

/** Income and expenses: a year end moves them to the owner's equity. */
export const KINDS_OF_A_YEAR: readonly AccountKind[] = ACCOUNT_KINDS.filter((kind) =>
  ['income', 'expense'].includes(CHART_OF_ACCOUNTS[kind].group),
)

/** Kinds whose balance is owed to or by a tenant, its holders or its payers: it is closed once all of them are zero. */
export const OPEN_MONEY = [
  'payable',
  'payouts_in_transit',
  'upi_refunds',
  'suspense',
  'disputes',
  'merchant_advances',
  'payout_exceptions',
  'refund_exceptions',
  'card_funding',
  'card',
  'unclaimed',
  'card_exceptions',
] as const satisfies readonly AccountKind[]

export const kindOf = (kind: AccountKind): KindOfAccount => CHART_OF_ACCOUNTS[kind]
