import { Failure } from '@svc/contract/errors'
import { activeCoins, award, expireDue, redeem, type Wallet, type WalletChange } from '@svc/core/coins/wallet'
import { amountOf } from '@svc/core/ledger/transfers'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const START = Date.parse('2027-01-01T00:00:00Z')
const FAR = new Date('2100-01-01T00:00:00Z')

const empty: Wallet = {
  partnerId: 'par_1',
  userId: 'usr_1',
  exists: false,
  entries: 0n,
  allocated: 0n,
  spent: 0n,
  expired: 0n,
  lots: [],
  readyUntil: FAR,
}

const amount = fc.bigInt({ min: 1n, max: 50n })
const move = fc.oneof(
  fc.record({
    kind: fc.constant('award' as const),
    amount,
    lastsMs: fc.option(fc.integer({ min: 1, max: 20 })),
  }),
  fc.record({ kind: fc.constant('redeem' as const), amount }),
  fc.record({ kind: fc.constant('expire' as const) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 10 }) }),
)
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never

/** Carries moves out; refused ones change nothing. Calls back after each with the time and what changed. */
function play(moves: readonly Move[], look: (change: WalletChange, now: Date) => void): Wallet {
  let wallet = empty
  let nowMs = START
  moves.forEach((next, i) => {
    if (next.kind === 'pass') nowMs += next.ms
    else {
      const now = new Date(nowMs)
      try {
        const change = carryOut(wallet, next, `x_${i}`, now)
        look(change, now)
        wallet = change.wallet
      } catch (error) {
        expect(error).toBeInstanceOf(Failure)
        expect((error as Failure).word).toBe('insufficient_coins')
      }
    }
  })
  return wallet
}

function carryOut(
  wallet: Wallet,
  next: Exclude<Move, { kind: 'pass' }>,
  id: string,
  now: Date,
): WalletChange {
  if (next.kind === 'expire') return expireDue(wallet, now)
  if (next.kind === 'redeem')
    return redeem(
      wallet,
      { redemptionId: id, transferId: id, requestId: id, amount: next.amount, lotOrder: 'expiry' },
      now,
    ).change
  const expiresAt = next.lastsMs === null ? null : new Date(now.getTime() + next.lastsMs)
  return award(
    wallet,
    new Set(),
    { lotId: id, transferId: id, requestId: id, amount: next.amount, expiresAt },
    now,
  ).change
}

const moves = fc.array(move, { maxLength: 40 })

test('whatever happens, every coin is active, spent or expired, and the lots hold the active ones', () => {
  fc.assert(
    fc.property(moves, (all) => {
      play(all, ({ wallet, lots }) => {
        expect(wallet.allocated).toBe(activeCoins(wallet) + wallet.spent + wallet.expired)
        expect(wallet.lots.reduce((sum, { remaining }) => sum + remaining, 0n)).toBe(activeCoins(wallet))
        for (const lot of lots) expect(lot.remaining >= 0n && lot.spent >= 0n && lot.expired >= 0n).toBe(true)
      })
    }),
  )
})

test('transfers move exactly what the entries say, and the entries number themselves without gaps', () => {
  fc.assert(
    fc.property(moves, (all) => {
      let entries = 0n
      let balance = 0n
      play(all, ({ entries: lines, journals }) => {
        const transfers = journals.flatMap((journal) => journal.transfers)
        expect(transfers.map((transfer) => [transfer.objectId, amountOf(transfer)])).toEqual(
          lines.map((line) => [line.objectId, line.amount]),
        )
        for (const line of lines) {
          balance += line.kind === 'ALLOCATED' ? line.amount : -line.amount
          expect([line.entry, line.balanceAfter]).toEqual([++entries, balance])
        }
      })
    }),
  )
})

test('nothing that is due survives a change, and expiring again changes nothing', () => {
  fc.assert(
    fc.property(moves, (all) => {
      play(all, ({ wallet }, now) => {
        expect(wallet.lots.filter(({ expiresAt }) => expiresAt && expiresAt <= now)).toEqual([])
        const again = expireDue(wallet, now)
        expect([again.wallet, again.entries, again.journals, again.events]).toEqual([wallet, [], [], []])
      })
    }),
  )
})

test('a redemption empties older lots before it touches newer ones', () => {
  fc.assert(
    fc.property(
      fc.array(amount, { minLength: 1, maxLength: 20 }),
      fc.bigInt({ min: 1n, max: 200n }),
      (lots, wanted) => {
        const wallet = play(
          lots.map((coins) => ({ kind: 'award', amount: coins, lastsMs: null })),
          () => undefined,
        )
        const total = lots.reduce((sum, coins) => sum + coins, 0n)
        fc.pre(wanted <= total)
        const { uses } = redeem(
          wallet,
          { redemptionId: 'r', transferId: 't', requestId: 'q', amount: wanted, lotOrder: 'fifo' },
          new Date(START),
        )
        expect(uses.reduce((sum, use) => sum + use.amount, 0n)).toBe(wanted)
        expect(uses.map(({ lotId }) => lotId)).toEqual(uses.map((_, i) => `x_${i}`))
        expect(uses.slice(0, -1).map((use) => use.amount)).toEqual(lots.slice(0, uses.length - 1))
      },
    ),
  )
})

test('a clock that jumps past what was read refuses the command rather than guess', () => {
  const wallet = { ...empty, readyUntil: new Date(START) }
  expect(() => expireDue(wallet, new Date(START))).not.toThrow()
  expect(() => expireDue(wallet, new Date(START + 1))).toThrow(
    expect.objectContaining({ word: 'temporarily_unavailable' }),
  )
})
