import { Failure } from '@svc/contract/errors'
import { award } from '@svc/core/coins/award-coins'
import { settleDue } from '@svc/core/coins/settle-wallet'
import { redeem } from '@svc/core/coins/spend-coins'
import { voidLot } from '@svc/core/coins/void-coins'
import { activeCoins, type Wallet, type WalletChange, type WalletEntry } from '@svc/core/coins/wallet'
import { amountOf } from '@svc/core/ledger/transfers'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const START = Date.parse('2027-01-01T00:00:00Z')
const ZONE = 'Asia/Kolkata'
const FAR = new Date('2100-01-01T00:00:00Z')

const empty: Wallet = {
  partnerId: 'par_1',
  userId: 'usr_1',
  exists: false,
  entries: 0n,
  allocated: 0n,
  pending: 0n,
  spent: 0n,
  expired: 0n,
  voided: 0n,
  lots: [],
  pendingLots: [],
  readyUntil: FAR,
}

const amount = fc.bigInt({ min: 1n, max: 50n })
const move = fc.oneof(
  fc.record({
    kind: fc.constant('award' as const),
    amount,
    lastsMs: fc.option(fc.integer({ min: 1, max: 20 })),
    waitsMs: fc.option(fc.integer({ min: 1, max: 10 })),
  }),
  fc.record({ kind: fc.constant('redeem' as const), amount }),
  fc.record({
    kind: fc.constant('void' as const),
    which: fc.nat(),
    clawback: fc.constantFrom('lot' as const, 'wallet' as const),
  }),
  fc.record({ kind: fc.constant('settle' as const) }),
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
        expect((error as Failure).code).toBe('insufficient_coins')
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
  if (next.kind === 'settle') return settleDue(wallet, now, ZONE)
  if (next.kind === 'void') return voidOne(wallet, next, id, now)
  if (next.kind === 'redeem')
    return redeem(
      wallet,
      {
        redemptionId: id,
        transferId: id,
        requestId: id,
        amount: next.amount,
        lotOrder: 'expiry',
        timeZone: ZONE,
      },
      now,
    ).change
  const activatesAt = next.waitsMs === null ? null : new Date(now.getTime() + next.waitsMs)
  const activeFrom = activatesAt ?? now
  const terms = {
    activationId: activatesAt && `cac_${id}`,
    activatesAt,
    expiresAt: next.lastsMs === null ? null : new Date(activeFrom.getTime() + next.lastsMs),
  }
  return award(
    wallet,
    new Set(),
    { lotId: id, transferId: id, requestId: id, amount: next.amount, terms, timeZone: ZONE },
    now,
  ).change
}

/** Voids one of the lots that have pending or remaining coins, or one that has none left. */
function voidOne(
  wallet: Wallet,
  { which, clawback }: Extract<Move, { kind: 'void' }>,
  id: string,
  now: Date,
): WalletChange {
  const lots = [...wallet.lots, ...wallet.pendingLots]
  const lot = lots[which % Math.max(1, lots.length)]
  return voidLot(
    wallet,
    {
      voidId: id,
      transferId: id,
      requestId: id,
      lotId: lot?.lotId ?? 'gone',
      spent: lot?.spent ?? 7n,
      clawback,
      lotOrder: 'expiry',
      timeZone: ZONE,
    },
    now,
  ).change
}

/** What a line of the history adds to the active coins. */
function signed({ kind, amount }: WalletEntry): bigint {
  if (kind === 'PENDING' || kind === 'PENDING_VOIDED') return 0n
  return kind === 'ALLOCATED' || kind === 'ACTIVATED' ? amount : -amount
}

const moves = fc.array(move, { maxLength: 40 })

test('after any history, every coin is active, pending, spent, expired or voided, and the lots contain the open ones', () => {
  fc.assert(
    fc.property(moves, (all) => {
      play(all, ({ wallet, lots }) => {
        expect(wallet.allocated).toBe(activeCoins(wallet) + wallet.spent + wallet.expired)
        expect(wallet.lots.reduce((sum, { remaining }) => sum + remaining, 0n)).toBe(activeCoins(wallet))
        expect(wallet.pendingLots.reduce((sum, { pending }) => sum + pending, 0n)).toBe(wallet.pending)
        for (const lot of lots) {
          const { amount, remaining, pending, spent, expired, voided } = lot
          expect([remaining, pending, spent, expired, voided].every((part) => part >= 0n)).toBe(true)
          expect(remaining + pending + spent + expired + voided).toBe(amount)
        }
      })
    }),
  )
})

test('transfers move exactly what the entries state, and the entries are numbered without gaps', () => {
  fc.assert(
    fc.property(moves, (all) => {
      let entries = 0n
      let balance = 0n
      play(all, ({ entries: lines, journals }) => {
        const transfers = journals.flatMap((journal) => journal.transfers)
        expect(transfers.map((transfer) => [transfer.objectId, amountOf(transfer)])).toEqual(
          lines.filter((line) => line.amount > 0n).map((line) => [line.objectId, line.amount]),
        )
        for (const line of lines) {
          balance += signed(line)
          expect([line.entry, line.balanceAfter]).toEqual([++entries, balance])
        }
      })
    }),
  )
})

test('nothing due is left after a change, and settling again changes nothing', () => {
  fc.assert(
    fc.property(moves, (all) => {
      play(all, ({ wallet }, now) => {
        expect(wallet.lots.filter(({ expiresAt }) => expiresAt && expiresAt <= now)).toEqual([])
        expect(wallet.pendingLots.filter(({ activatesAt }) => activatesAt && activatesAt <= now)).toEqual([])
        const again = settleDue(wallet, now, ZONE)
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
          lots.map((coins) => ({ kind: 'award', amount: coins, lastsMs: null, waitsMs: null })),
          () => undefined,
        )
        const total = lots.reduce((sum, coins) => sum + coins, 0n)
        fc.pre(wanted <= total)
        const { uses } = redeem(
          wallet,
          {
            redemptionId: 'r',
            transferId: 't',
            requestId: 'q',
            amount: wanted,
            lotOrder: 'fifo',
            timeZone: ZONE,
          },
          new Date(START),
        )
        expect(uses.reduce((sum, use) => sum + use.amount, 0n)).toBe(wanted)
        expect(uses.map(({ lotId }) => lotId)).toEqual(uses.map((_, i) => `x_${i}`))
        expect(uses.slice(0, -1).map((use) => use.amount)).toEqual(lots.slice(0, uses.length - 1))
      },
    ),
  )
})

test('a clock jump past what was read rejects the command instead of guessing', () => {
  const wallet = { ...empty, readyUntil: new Date(START) }
  expect(() => settleDue(wallet, new Date(START), ZONE)).not.toThrow()
  expect(() => settleDue(wallet, new Date(START + 1), ZONE)).toThrow(
    expect.objectContaining({ code: 'temporarily_unavailable' }),
  )
})
