import { groupBy } from '@svc/kernel/group-by'
import { formatRupees } from '@svc/kernel/money'
import type { Keyring } from '@svc/platform/crypto/keyring'
import { readSigned, signed } from '@svc/platform/crypto/signed'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { onNormalSide, type TrialBalanceLine, trialBalance } from '../ledger/books.ts'
import type { AccountKind, Unit } from '../ledger/chart-of-accounts.ts'
import { type BankAccount, listBankAccounts, PURPOSE_NAMES, PURPOSES, type Purpose } from './bank-account.ts'
import { compareWithBooks } from './proof-entries.ts'
import { daysBetween } from './statement-line.ts'

export const PROOF_TYPE = 'svc-proof'

/** Why a statement and the books are not the same, in the order of the proof. */
export const DIFFERENCE_KINDS = [
  'opening',
  'deposit_in_transit',
  'payment_in_transit',
  'statement_only',
  'amount_differs',
] as const
export type ProofDifferenceKind = (typeof DIFFERENCE_KINDS)[number]

export interface ProofItem {
  readonly documentId: string
  readonly reference: string
  readonly date: string
  readonly amount: string
  readonly ageDays: number
  readonly owner: string
}

export interface ProofDifference {
  readonly kind: ProofDifferenceKind
  readonly amount: string
  readonly count: number
  readonly items: readonly ProofItem[]
}

interface Amount {
  readonly kind: AccountKind
  readonly amount: string
}

/** Amounts are rupees as text. */
export interface Proof {
  readonly date: string
  /** A statement of that day is missing, or the day is not over. */
  readonly provisional: boolean
  readonly accounts: readonly {
    readonly purpose: Purpose
    readonly statementBalance: string
    readonly booksBalance: string
    /** The statement less the books and all differences. */
    readonly unexplained: string
    readonly differences: readonly ProofDifference[]
  }[]
  readonly coverage: readonly {
    readonly purpose: Purpose
    readonly owed: readonly Amount[]
    readonly due: readonly Amount[]
    readonly required: string
    readonly bank: string
    readonly surplus: string
  }[]
  readonly trialBalance: readonly {
    readonly kind: AccountKind
    readonly unit: Unit
    readonly debit: string
    readonly credit: string
  }[]
}

/** With the signature of the rest, a compact JWS. */
export interface SignedProof extends Proof {
  readonly signed: string
}

interface Balance {
  readonly bankAccountId: string
  readonly balancePaise: bigint
  readonly through: string | null
}
// What the bank said last until that day: the end of a statement, or a line of one that reaches further. Not the sum of lines.
const BALANCES = statement<Balance>(
  'proof_statement_balances',
  `select b.bank_account_id as "bankAccountId", coalesce(said.balance, b.opening_paise) as "balancePaise", (
     select max(s.through)::text from bank_statements s where s.bank_account_id = b.bank_account_id) as through
   from bank_accounts b left join lateral (
     select * from (
       (select s.through as day, s.last_place as place, 2 as rank, s.closing_paise as balance from bank_statements s
        where s.tenant_id = b.tenant_id and s.bank_account_id = b.bank_account_id and s.through <= $1::date
        order by s.through desc, s.last_place desc limit 1)
       union all
       (select l.booked_on, l.place, 1, l.balance_paise from statement_lines l
        where l.tenant_id = b.tenant_id and l.bank_account_id = b.bank_account_id and l.booked_on <= $1::date
        order by l.booked_on desc, l.place desc limit 1)) ends
     order by day desc, rank desc limit 1) said on true
   where b.opened_on <= $1::date`,
)

/** What the bank said last of each account until the end of a day, and the day that statements reach. */
export const statementBalances = async (tx: Tx, day: string): Promise<ReadonlyMap<string, Balance>> =>
  new Map((await tx.query(BALANCES, [day])).map((balance) => [balance.bankAccountId, balance]))

/** What must be true of the money that we hold, as of the end of a day; under repeatable read. */
export async function proveFunds(tx: Tx, day: string, today: string): Promise<Proof> {
  const accounts = (await listBankAccounts(tx)).filter(({ openedOn }) => openedOn <= day)
  const balances = await statementBalances(tx, day)
  const trial = await trialBalance(tx, { effectiveThrough: day })
  const books = booksOf(trial)
  const proven: Awaited<ReturnType<typeof accountProof>>[] = []
  for (const [purpose, its] of groupBy(accounts, ({ purpose }) => purpose)) {
    const bank = its.reduce((sum, { bankAccountId }) => sum + balances.get(bankAccountId)!.balancePaise, 0n)
    proven.push(
      await accountProof(tx, { purpose, accounts: its, bank, books: books(PURPOSES[purpose]), day }),
    )
  }
  const ordered = PURPOSE_NAMES.flatMap((purpose) => proven.filter((each) => each.purpose === purpose))
  const isMissing = ({ bankAccountId }: BankAccount) => (balances.get(bankAccountId)?.through ?? '') < day
  return {
    date: day,
    provisional: day >= today || accounts.length === 0 || accounts.some(isMissing),
    accounts: ordered.map(({ bank: _bank, ...rest }) => rest),
    coverage: ordered.flatMap(({ purpose, bank }) => coverageOf(purpose, bank, books)),
    trialBalance: trial.map(({ kind, unit, debit, credit }) => ({
      kind,
      unit,
      debit: textOf(debit, unit),
      credit: textOf(credit, unit),
    })),
  }
}

const textOf = (amount: bigint, unit: Unit): string =>
  unit === 'INR' ? formatRupees(amount) : String(amount)

type Books = (kind: AccountKind) => bigint

/** The balance of each kind, on its normal side. */
function booksOf(trial: readonly TrialBalanceLine[]): Books {
  const of = new Map(trial.map((line) => [line.kind, line.credit - line.debit]))
  return (kind) => onNormalSide(kind, of.get(kind) ?? 0n)
}

interface Compared {
  readonly purpose: Purpose
  readonly accounts: readonly BankAccount[]
  readonly bank: bigint
  readonly books: bigint
  readonly day: string
}

async function accountProof(tx: Tx, { purpose, accounts, bank, books, day }: Compared) {
  const from = accounts.reduce((least, { openedOn }) => (openedOn < least ? openedOn : least), day)
  const { beforePaise, items } = await compareWithBooks(tx, purpose, { day, from })
  const found = [
    ...openingItems(accounts, from, beforePaise),
    ...items.map((item) => ({
      kind: kindOf(item),
      documentId: item.documentId ?? item.lineId!,
      reference: item.reference,
      date: item.date,
      paise: (item.linePaise ?? 0n) - (item.bookedPaise ?? 0n),
      owner: item.owner,
    })),
  ]
  const differences = DIFFERENCE_KINDS.flatMap((kind) => {
    const its = found.filter((item) => item.kind === kind)
    const amount = its.reduce((sum, { paise }) => sum + paise, 0n)
    return its.length === 0 ? [] : [{ kind, amount, its }]
  })
  const explained = differences.reduce((sum, { amount }) => sum + amount, 0n)
  return {
    purpose,
    bank,
    statementBalance: formatRupees(bank),
    booksBalance: formatRupees(books),
    unexplained: formatRupees(bank - books - explained),
    differences: differences.map(({ kind, amount, its }) => ({
      kind,
      amount: formatRupees(amount),
      count: its.length,
      items: its.map(({ documentId, reference, date, paise, owner }) => ({
        documentId,
        reference,
        date,
        amount: formatRupees(paise),
        ageDays: daysBetween(date, day),
        owner,
      })),
    })),
  }
}

/** What the bank had on the first day less what the books had, of the first account; what later accounts began with. */
const openingItems = (accounts: readonly BankAccount[], from: string, beforePaise: bigint) =>
  accounts
    .map(({ bankAccountId, name, openedOn, openingPaise, createdBy }, i) => ({
      kind: 'opening' as const,
      documentId: bankAccountId,
      reference: name,
      date: openedOn,
      paise: openingPaise - (accounts.findIndex((each) => each.openedOn === from) === i ? beforePaise : 0n),
      owner: createdBy,
    }))
    .filter(({ paise }) => paise !== 0n)

function kindOf({
  lineId,
  bookedPaise,
}: {
  readonly lineId: string | null
  readonly bookedPaise: bigint | null
}): ProofDifferenceKind {
  if (lineId === null) return bookedPaise! > 0n ? 'deposit_in_transit' : 'payment_in_transit'
  return bookedPaise === null ? 'statement_only' : 'amount_differs'
}

const positive = (amount: bigint): bigint => (amount > 0n ? amount : 0n)

/** What an escrow account must have: what is owed out of it, less what others still owe into it. */
function coverageOf(purpose: Purpose, bank: bigint, books: Books): Proof['coverage'][number][] {
  if (purpose === 'own_funds') return []
  const merchants: readonly AccountKind[] = [
    'payable',
    'upi_refunds',
    'suspense',
    'disputes',
    'payouts_in_transit',
  ]
  const cards: readonly AccountKind[] = ['card', 'unclaimed', 'card_settlement', 'card_funding']
  const isCards = purpose === 'ppi_escrow'
  const unmatched = isCards ? 'network_unmatched' : 'settlement_unmatched'
  const owed = [
    ...(isCards ? cards : merchants).map((kind) => ({ kind, paise: books(kind) })),
    { kind: unmatched, paise: positive(books(unmatched)) } as const,
  ]
  const funding = books('funding_clearing')
  const due: readonly { kind: AccountKind; paise: bigint }[] = isCards
    ? [
        {
          kind: 'funding_clearing',
          // What partners owe beyond their own accounts is not owed to cards.
          paise: funding < books('card_funding') ? funding : books('card_funding'),
        },
      ]
    : [
        { kind: 'accrued_fees', paise: books('accrued_fees') },
        { kind: 'upi_clearing', paise: books('upi_clearing') },
      ]
  const sum = (list: readonly { paise: bigint }[]) => list.reduce((total, { paise }) => total + paise, 0n)
  const required = sum(owed) - sum(due)
  const toWire = (list: readonly { kind: AccountKind; paise: bigint }[]) =>
    list.map(({ kind, paise }) => ({ kind, amount: formatRupees(paise) }))
  return [
    {
      purpose,
      owed: toWire(owed),
      due: toWire(due),
      required: formatRupees(required),
      bank: formatRupees(bank),
      surplus: formatRupees(bank - required),
    },
  ]
}

export const signProof = (keyring: Keyring, proof: Proof): SignedProof => {
  const { date, provisional, ...rest } = proof
  return { date, provisional, signed: signed(keyring, PROOF_TYPE, proof), ...rest }
}

/** What was signed; `undefined` where it was not signed here, or was changed. */
export const readProof = (keyring: Keyring, jws: string): Proof | undefined =>
  readSigned(keyring, PROOF_TYPE, jws) as Proof | undefined

/** How far a proof fails, in paise: what is unexplained, and what escrow accounts have less than is owed out of them. */
export function failuresOf({ accounts, coverage }: Proof): {
  readonly unexplainedPaise: bigint
  readonly shortfallPaise: bigint
} {
  const below = (amount: bigint): bigint => (amount < 0n ? 0n - amount : 0n)
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const unexplained = accounts.map((account) => paiseOf(account.unexplained))
  return {
    unexplainedPaise: sum(unexplained.map((amount) => below(amount) + positive(amount))),
    shortfallPaise: sum(coverage.map(({ surplus }) => below(paiseOf(surplus)))),
  }
}

/** Everything is explained, and no escrow account has less than is owed out of it. */
export function isWhole(proof: Proof): boolean {
  const { unexplainedPaise, shortfallPaise } = failuresOf(proof)
  return unexplainedPaise === 0n && shortfallPaise === 0n
}

/** What `formatRupees` wrote. */
const paiseOf = (rupees: string): bigint => BigInt(rupees.replace('.', ''))
