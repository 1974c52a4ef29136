import { expect, test } from 'vitest'
import { findAnomaly, type Operation } from '../../../lab/chaos/history.ts'
import {
  type CardOp,
  cardModel,
  type QrCodeOp,
  qrCodeModel,
  type WalletOp,
  walletModel,
} from '../../../lab/chaos/objects.ts'
import { Random } from '../../../lab/chaos/random.ts'

const at = <Op>(startMs: number, endMs: number | undefined, op: Op): Operation<Op> => ({ startMs, endMs, op })
const cancel = (modifiedOn = 'noon'): QrCodeOp => ({ kind: 'cancel', modifiedOn })
const credit = (outcome: 'ACCEPTED' | 'qr_code_cancelled' | 'qr_code_used'): QrCodeOp => ({
  kind: 'credit',
  utr: '',
  outcome,
})
const read = (status: string): QrCodeOp => ({ kind: 'read', status })

test('a credit concurrent with a cancel may win or lose', () => {
  for (const outcome of ['ACCEPTED', 'qr_code_cancelled'] as const)
    expect(findAnomaly(qrCodeModel(true), [at(0, 10, cancel()), at(5, 15, credit(outcome))])).toBeUndefined()
})

test('a credit that was sent after the response to a cancel and was accepted is an anomaly', () => {
  const late = at(11, 12, credit('ACCEPTED'))
  expect(findAnomaly(qrCodeModel(true), [at(0, 10, cancel()), late])?.at).toBe(late)
})

test('two payments through one single-use code, a status that reverts, and a second cancel at another time are anomalies', () => {
  const twice = [at(0, 10, credit('ACCEPTED')), at(0, 10, credit('ACCEPTED'))]
  expect(findAnomaly(qrCodeModel(true), twice)).toBeUndefined()
  expect(findAnomaly(qrCodeModel(false), twice)).toBeDefined()
  expect(findAnomaly(qrCodeModel(true), [at(0, 9, read('CANCELLED')), at(0, 5, cancel())])).toBeUndefined()
  const alive = [at(0, 5, cancel()), at(6, 7, read('CANCELLED')), at(8, 9, read('ACTIVE'))]
  expect(findAnomaly(qrCodeModel(true), alive)?.at).toBe(alive[2])
  expect(findAnomaly(qrCodeModel(true), [at(0, 1, cancel('noon')), at(2, 3, cancel('one'))])).toBeDefined()
})

test('a request without a response may have taken effect at any time, or not at all', () => {
  const open = at(0, undefined, cancel())
  expect(findAnomaly(qrCodeModel(true), [open, at(50, 51, credit('ACCEPTED'))])).toBeUndefined()
  const refused = at(50, 51, credit('qr_code_cancelled'))
  expect(findAnomaly(qrCodeModel(true), [open, refused])).toBeUndefined()
  expect(findAnomaly(qrCodeModel(true), [open, refused, at(52, 53, credit('ACCEPTED'))])).toBeDefined()
})

test('a card that reads as it was before the last change is an anomaly, unless the change was in flight', () => {
  const set = (status: string): CardOp => ({ kind: 'set', status })
  const see = (status: string): CardOp => ({ kind: 'read', status })
  expect(
    findAnomaly(cardModel, [at(0, 10, set('L')), at(2, 3, see('UL')), at(4, 5, see('L'))]),
  ).toBeUndefined()
  expect(findAnomaly(cardModel, [at(0, 10, set('L')), at(2, 3, see('L')), at(4, 5, see('UL'))])).toBeDefined()
})

/** What four callers of one wallet would be told if every operation took effect at one instant within it. */
function playWallet(seed: number): Operation<WalletOp>[] {
  const random = new Random(seed)
  const sent = Array.from({ length: 200 }, (_, n) => {
    const startMs = Math.floor(n / 4) * 10 + random.next() * 8
    const effectMs = startMs + random.next() * 15
    return { startMs, effectMs, endMs: effectMs + random.next() * 5 }
  })
  let balance = 0
  return sent
    .toSorted((a, b) => a.effectMs - b.effectMs)
    .map(({ startMs, endMs }) => {
      const coins = 1 + random.below(20)
      const chance = random.next()
      if (chance < 0.3) return at(startMs, endMs, { kind: 'read', balance })
      if (chance < 0.65) return at(startMs, endMs, { kind: 'add', coins, balance: (balance += coins) })
      if (balance < coins) return at(startMs, endMs, { kind: 'too little', coins })
      return at(startMs, endMs, { kind: 'take', coins, balance: (balance -= coins) })
    })
}

test('histories of wallets with a serial order pass; with one lost, one doubled or one stale response they never do', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const history = playWallet(seed)
    expect(findAnomaly(walletModel, history), `seed ${seed}`).toBeUndefined()
    const random = new Random(seed)
    const changes = history.filter(({ op }) => op.kind === 'add')
    const one = random.pick(changes.slice(0, changes.length / 2))
    const lost = history.filter((operation) => operation !== one)
    const doubled = [...history, at(one.startMs, one.endMs, one.op)]
    expect(findAnomaly(walletModel, lost), `seed ${seed}, one lost`).toBeDefined()
    expect(findAnomaly(walletModel, doubled), `seed ${seed}, one doubled`).toBeDefined()
    const stale = at(10_000, 10_001, { kind: 'read', balance: -1 } as WalletOp)
    expect(findAnomaly(walletModel, [...history, stale])?.at, `seed ${seed}, one stale`).toBe(stale)
  }
})
