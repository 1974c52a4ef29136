import { canonicalJson } from '@svc/kernel/canonical-json'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { trialBalance } from './books.ts'
import { type Closing, knownTo, listClosings, type Stated, signedInstant, statedBy } from './closing.ts'
import {
  type ClosedTotal,
  type ClosingStatement,
  combined,
  type Entered,
  effectiveAsKnown,
  enteredUntil,
  hashOf,
} from './closing-statement.ts'
import { Moves, type OfClosing } from './moved-books.ts'
import { priorPeriodMoved } from './prior-period.ts'

export interface VerifiedClosing extends Closing {
  /** What is wrong, in words; `null` when the books of then are what was signed. */
  readonly problem: string | null
}

/**
 * Compares what was signed with what the ledger says today about each closed period. Tenants that moved to another cell
 * since count with what was signed when they left; those that came count in none of the periods of before.
 */
export async function verifyClosings(tx: Tx, keyring: Keyring): Promise<VerifiedClosing[]> {
  const closings = await listClosings(tx)
  const moves = await Moves.read(tx, keyring)
  const verified: VerifiedClosing[] = []
  for (const [i, closing] of closings.entries()) {
    const stated = statedBy(keyring, closing)
    const of = moves.of(closing.through)
    const problem =
      moves.forged !== undefined
        ? `what ${moves.forged} took to another cell is not what this installation signed`
        : ((await enteredProblem(tx, closing, stated, of)) ??
          (await broughtProblem(tx, of)) ??
          (stated?.version === 2 ? await effectiveProblem(tx, stated, of, closings[i + 1]) : null))
    verified.push({ ...closing, problem })
  }
  return verified
}

/** What was entered until then by the tenants that the closing counted. */
async function enteredOf(tx: Tx, until: Date, { taken, absent }: OfClosing): Promise<Entered> {
  let { entered, entries } = await enteredUntil(tx, until)
  const add = (other: Entered, sign: 1n | -1n) => {
    entered = combined(entered, other.entered, sign)
    entries = String(BigInt(entries) + sign * BigInt(other.entries))
  }
  if (absent.length > 0) add(await enteredUntil(tx, until, absent), -1n)
  for (const each of taken) add(each, 1n)
  return { entered, entries }
}

async function enteredProblem(
  tx: Tx,
  { through, until }: Closing,
  stated: Stated | undefined,
  of: OfClosing,
): Promise<string | null> {
  if (!stated) return 'the signature is not one of this installation'
  const now = await enteredOf(tx, until, of)
  if (now.entries !== stated.entries)
    return `${stated.entries} entries were signed, and there are ${now.entries}`
  const totals = stated.version === undefined ? stated.totals : stated.entered
  const other = otherTotal(totals, now.entered)
  if (other) return `the total of ${other} is another one`
  return through === stated.through && until.toISOString() === stated.until
    ? null
    : 'it was signed for another day'
}

/** The entries of tenants that came since are what was signed where they came from. */
async function broughtProblem(tx: Tx, { brought }: OfClosing): Promise<string | null> {
  for (const { tenantId, from, through, until, knownUntil, entered, entries, effective } of brought) {
    const now = await enteredUntil(tx, signedInstant(until), [tenantId])
    const known = await effectiveAsKnown(tx, through, signedInstant(knownUntil), [tenantId])
    const isSame =
      now.entries === entries && !otherTotal(entered, now.entered) && !otherTotal(effective, known)
    if (!isSame) return `the entries of ${tenantId} are not those that the cell ${from} signed when it left`
  }
  return null
}

/** The first kind of account whose total is not the one that was signed. */
const otherTotal = (stated: readonly ClosedTotal[], now: readonly ClosedTotal[]): string | undefined =>
  stated.find((total) => {
    const today = now.find(({ kind, unit }) => kind === total.kind && unit === total.unit)
    return canonicalJson(today) !== canonicalJson(total)
  })?.kind

/**
 * By effective date: what was known then is what was signed, and together with what was entered later it is what the books
 * say of the period today, reckoned back from today's balances.
 */
async function effectiveProblem(
  tx: Tx,
  stated: ClosingStatement,
  { taken, absent }: OfClosing,
  before: Closing | undefined,
): Promise<string | null> {
  const { through, effective, previous } = stated
  if (previous !== (before ? hashOf(before.signed) : null)) return 'the closing before it is another one'
  const known = knownTo(stated)
  const here = combined(
    await effectiveAsKnown(tx, through, known),
    absent.length > 0 ? await effectiveAsKnown(tx, through, known, absent) : [],
    -1n,
  )
  const withTaken = taken.reduce((totals, each) => combined(totals, each.effective, 1n), here)
  const other = otherTotal(effective, withTaken)
  if (other) return `by effective date the total of ${other} is another one`
  const moved = new Map<string, bigint>()
  const add = (kind: string, unit: string, amount: bigint) =>
    moved.set(`${kind} ${unit}`, (moved.get(`${kind} ${unit}`) ?? 0n) + amount)
  const stayed = taken.reduce((totals, each) => combined(totals, each.effective, -1n), effective)
  for (const { kind, unit, debit, credit } of stayed) add(kind, unit, BigInt(credit) - BigInt(debit))
  for (const { kind, unit, amount } of await priorPeriodMoved(tx, through, known)) add(kind, unit, amount)
  for (const { kind, unit, debit, credit } of await trialBalance(tx, { effectiveThrough: through }))
    add(kind, unit, debit - credit)
  if (absent.length > 0)
    for (const { kind, unit, amount } of await priorPeriodMoved(tx, through, known, absent))
      add(kind, unit, -amount)
  for (const tenantId of absent)
    for (const { kind, unit, debit, credit } of await trialBalance(tx, {
      effectiveThrough: through,
      tenantId,
    }))
      add(kind, unit, credit - debit)
  const unequal = [...moved].find(([, amount]) => amount !== 0n)
  return unequal
    ? `by effective date ${unequal[0].split(' ')[0]} is not what was signed with the later entries`
    : null
}
