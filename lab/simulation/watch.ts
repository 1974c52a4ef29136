import { checkInvariants, INVARIANTS, nameOf } from '@svc/console-api/invariants'
import type { Check } from '@svc/core/ledger/reconcile'
import pg from 'pg'
import type { Bank } from './bank.ts'
import { Touched } from './callers.ts'
import type { Cards } from './cards.ts'
import type { Coins } from './coins.ts'
import type { Partner } from './partners.ts'
import type { QrCodes } from './qr-codes.ts'
import type { SimulationServer } from './server.ts'
import { ensure, type World } from './world.ts'

const CHOSEN: Readonly<Record<string, (touched: Touched) => Iterable<string>>> = {
  'QR codes': ({ codes }) => codes,
  payments: ({ payments }) => payments,
  cards: ({ cards }) => cards,
  'ledger accounts': ({ accounts }) => accounts,
  wallets: ({ users }) => users,
  'lots of coins': ({ users }) => users,
  'redemptions of coins': ({ users }) => users,
  'voids of coins': ({ users }) => users,
  feeds: ({ tenants }) => tenants,
  deliveries: ({ tenants }) => tenants,
  events: ({ codes, cards, users }) => [...codes, ...cards, ...users],
}

/** Looks at the database from outside, past the service: the invariants, and whether what was acknowledged is so. */
export class Watch {
  readonly #world: World
  readonly #client: pg.Client

  private constructor(world: World, client: pg.Client) {
    this.#world = world
    this.#client = client
  }

  static async open({ host, port }: SimulationServer, world: World): Promise<Watch> {
    const options = '-c search_path=svc -c plan_cache_mode=force_generic_plan'
    const client = new pg.Client({
      host,
      port,
      user: 'postgres',
      database: world.database,
      options,
      pipeline: true,
    } as pg.ClientConfig)
    await client.connect()
    return new Watch(world, client)
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  /** The invariants of the objects that were touched. */
  async check(touched: Touched): Promise<void> {
    const queries = INVARIANTS.flatMap((invariant) => {
      const ids = [...(CHOSEN[invariant.of!.name]?.(touched) ?? [])]
      return invariant.differencesOf && ids.length > 0
        ? [{ invariant, statement: invariant.differencesOf, ids }]
        : []
    })
    await Promise.all(
      queries.map(async ({ invariant, statement: { name, text }, ids }) => {
        const { rows } = await this.#client.query({ name, text, values: [ids] })
        this.#report(invariant, rows)
      }),
    )
  }

  #report(invariant: Check, rows: readonly unknown[]): void {
    ensure(
      rows.length === 0,
      () => `${nameOf(invariant)}: ${invariant.check}\n  ${JSON.stringify(rows.slice(0, 10))}`,
    )
  }

  /** Everything, by the code of `svc admin invariants`. */
  async checkAll(): Promise<void> {
    const [reports] = await this.#world.carryOut([() => checkInvariants(this.#world.app.services.database)])
    for (const { name, promise, violations } of reports ?? [])
      ensure(violations.length === 0, () => `${name}: ${promise}\n  ${JSON.stringify(violations)}`)
  }

  /** Whether the money and the coins that were touched are as callers were told. */
  async compare(touched: Touched, cards: Cards, coins: Coins, partners: readonly Partner[]): Promise<void> {
    const known = cards.all.filter(({ svcCardId }) => touched.cards.has(svcCardId))
    const funds = partners.filter(({ cardAccountId }) =>
      touched.accounts.has(`card_funding:${cardAccountId}`),
    )
    const accounts = [
      ...known.map(({ svcCardId }) => `card:${svcCardId}`),
      ...funds.map(({ cardAccountId }) => `card_funding:${cardAccountId}`),
    ]
    const balances =
      accounts.length > 0
        ? await this.#pairs(
            'select account_id as id, balance as a, 0 as b from ledger_accounts where account_id = any ($1)',
            accounts,
          )
        : new Map()
    for (const { svcCardId, balance, open } of known) {
      const [actual] = balances.get(`card:${svcCardId}`) ?? [-1n]
      ensure(
        balance.allows(actual),
        () => `${svcCardId} has ${actual} paise; callers were told of ${balance}`,
      )
      // What was sent without a key and not answered has happened by now, or never will.
      if (open.size === 0) balance.collapse(actual)
    }
    for (const { cardAccountId, funds: tally } of funds) {
      const [actual] = balances.get(`card_funding:${cardAccountId}`) ?? [-1n]
      ensure(
        tally.allows(actual),
        () => `${cardAccountId} has ${actual} paise for cards; callers were told of ${tally}`,
      )
    }
    await this.#compareCoins(coins.users.filter(({ userId }) => touched.users.has(userId)))
  }

  async #compareCoins(users: Coins['users']): Promise<void> {
    if (users.length === 0) return
    const ids = users.map(({ userId }) => userId)
    const [wallets, voids] = await Promise.all([
      this.#pairs(
        `select user_id as id, allocated + pending + voided as a, spent as b from coin_wallets
         where user_id = any ($1)`,
        ids,
      ),
      this.#pairs(
        'select user_id as id, voided as a, pending as b from coin_wallets where user_id = any ($1)',
        ids,
      ),
    ])
    for (const { userId, allocated, spent, voided } of users) {
      const [a, b] = wallets.get(userId) ?? [0n, 0n]
      // What an award that nobody was told of is worth is not known.
      ensure(
        allocated.uncertain > 0 || allocated.allows(a),
        () => `${userId} got ${a} coins; callers were told of ${allocated}`,
      )
      ensure(
        spent.uncertain > 0 || spent.allows(b),
        () => `${userId} spent ${b} coins; callers were told of ${spent}`,
      )
      const [taken] = voids.get(userId) ?? [0n]
      ensure(
        voided.uncertain > 0 || voided.allows(taken),
        () => `${taken} coins of ${userId} were voided; callers were told of ${voided}`,
      )
    }
  }

  async #pairs(text: string, ids: readonly string[]): Promise<Map<string, [bigint, bigint]>> {
    const { rows } = await this.#client.query({ name: text.slice(0, 40), text, values: [ids] })
    return new Map(rows.map((row) => [row.id, [BigInt(row.a), BigInt(row.b)]]))
  }

  /** Finds the references of new codes. */
  async references(qrCodes: QrCodes): Promise<void> {
    const codes = qrCodes.takeWithoutTr()
    if (codes.length === 0) return
    const ids = codes.map(({ qrCodeId }) => qrCodeId)
    const { rows } = await this.#client.query({
      name: 'references',
      text: 'select qr_code_id, tr from qr_codes where qr_code_id = any ($1)',
      values: [ids],
    })
    const trs = new Map(rows.map((row) => [row.qr_code_id, row.tr]))
    for (const code of codes) {
      const tr = trs.get(code.qrCodeId)
      ensure(tr, () => `${code.qrCodeId} was acknowledged and is not there`)
      code.tr = tr
    }
  }

  /** At the end, everything that was ever acknowledged. */
  async compareAll(bank: Bank, cards: Cards, coins: Coins, partners: readonly Partner[]): Promise<void> {
    const { rows } = await this.#client.query('select utr, payment_id, amount_paise, status from payments')
    const found = new Map(rows.map((row) => [row.utr, row]))
    for (const { utr, payment } of bank.recorded()) {
      const row = found.get(utr)
      ensure(
        row?.payment_id === payment.paymentId,
        () => `${utr} was acknowledged as ${payment.paymentId} and is ${row?.payment_id}`,
      )
      ensure(
        Number(row.amount_paise) === Math.round(payment.amount * 100),
        () => `${utr}: ${row.amount_paise} paise, the response said ${payment.amount}`,
      )
      ensure(
        row.status === payment.status,
        () => `${utr} was answered ${payment.status} and is ${row.status}`,
      )
    }
    const touched = new Touched()
    for (const { svcCardId } of cards.all) touched.cards.add(svcCardId)
    for (const { userId } of coins.users) touched.users.add(userId)
    for (const { cardAccountId } of partners) touched.accounts.add(`card_funding:${cardAccountId}`)
    await this.compare(touched, cards, coins, partners)
  }
}
