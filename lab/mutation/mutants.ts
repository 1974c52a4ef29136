export interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

export interface Mutation extends Edit {
  readonly what: string
  /** More places that must be broken too, because what is broken is held twice. */
  readonly also?: readonly Edit[]
  /** The test that must go red; `simulate`: the simulation must find it, within these seeds. */
  readonly tests: string
  readonly named: string
}

const RACES = 'test/service/races.test.ts'
const EXACT = 'test/service/exact-expiry.test.ts'
/** The simulation must find it. */
export const SIMULATE = 'simulate'
export const MUTATIONS: readonly Mutation[] = [
  {
    what: 'rows are read without a lock',
    file: 'packages/platform/src/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: RACES,
    named: 'single-use codes',
  },
  {
    what: 'rows are read without a lock',
    file: 'packages/platform/src/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: RACES,
    named: 'cancel and pay at once',
  },
  {
    what: 'one bank reference may name several credits',
    file: 'migrations/0007_payments.sql',
    from: 'create unique index one_live_credit_per_utr',
    to: 'create index one_live_credit_per_utr',
    tests: RACES,
    named: 'one bank reference',
  },
  {
    what: 'one reference may be held by several codes',
    file: 'migrations/0007_payments.sql',
    from: 'create unique index qr_codes_reference',
    to: 'create index qr_codes_reference',
    tests: RACES,
    named: 'one referenceNumber',
  },
  {
    what: 'the first answer of a key is not kept',
    file: 'packages/platform/src/db/batch.ts',
    from: 'if (keep.length > 0) responses.save',
    to: 'if (keep.length < 0) responses.save',
    tests: 'test/service/idempotency.test.ts',
    named: '64 callers with one key',
  },
  {
    what: 'a batch leaves no trace by which a lost COMMIT could be settled',
    file: 'packages/platform/src/db/batch.ts',
    from: "`insert into batches values ('${batchId}')`",
    to: "`insert into batches values ('${batchId}' || clock_timestamp())`",
    tests: 'test/service/write-path.test.ts',
    named: 'connections cut around COMMIT',
  },
  {
    what: 'rows are read without a lock',
    file: 'packages/platform/src/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: SIMULATE,
    named: 'simulated: row lock',
  },
  {
    what: 'a code accepts payments after its receipt',
    file: 'packages/core/src/payments/refuse-credit.ts',
    from: "if (code.status === 'CANCELLED')",
    to: "if (code.status === 'CANCELLED' && !code.multipleUse)",
    tests: SIMULATE,
    named: 'simulated: payment after the receipt',
  },
  {
    what: 'a batch id may be written twice',
    file: 'migrations/0001_base.sql',
    from: 'alter table batches add primary key (batch_id);',
    to: '',
    tests: SIMULATE,
    named: 'simulated: unique key',
  },
  {
    what: 'what was sent before a lost COMMIT is sent again under a new id',
    file: 'packages/platform/src/db/flight.ts',
    from: 'await this.#attempt({ batchId, entries',
    to: 'await this.#attempt({ batchId: batchId && newBatchId(), entries',
    tests: SIMULATE,
    named: 'simulated: new batch id',
  },
  {
    what: 'the first answer of a key is kept in a transaction of its own',
    file: 'packages/platform/src/db/batch.ts',
    from: 'responses.save(tx, keep, now)',
    to: 'await database.write(keep.map(({ key }) => key.tenantId), async (own) => responses.save(own, keep, now))',
    tests: SIMULATE,
    named: 'simulated: idempotency outside',
  },
  {
    what: 'the first answer of a key is not kept',
    file: 'packages/platform/src/db/batch.ts',
    from: 'if (keep.length > 0) responses.save',
    to: 'if (keep.length < 0) responses.save',
    tests: SIMULATE,
    named: 'simulated: answers forgotten',
  },
  {
    what: 'callers are answered before the COMMIT is',
    file: 'packages/platform/src/db/batch.ts',
    from: '    await commit(tx, sent, database)\n    return result',
    to: '    commit(tx, sent, database).catch(() => undefined)\n    return result',
    tests: SIMULATE,
    named: 'simulated: early answer',
  },
  {
    what: 'a card may be overspent',
    file: 'packages/core/src/cards/card/spend-card.ts',
    from: 'if (balancePaise - heldPaise < amountPaise)',
    to: 'if (balancePaise - heldPaise < -amountPaise)',
    also: [
      {
        file: 'migrations/0006_ledger.sql',
        from: 'check (balance >= floor)',
        to: 'check (balance is not null)',
      },
    ],
    tests: SIMULATE,
    named: 'simulated: floor',
  },
  {
    what: 'payments are not told of',
    file: 'packages/core/src/payments/accept-payment.ts',
    from: 'saveEvents(tx, recorded.flatMap(eventsOf))',
    to: 'saveEvents(tx, recorded.slice(1).flatMap(eventsOf))',
    tests: SIMULATE,
    named: 'simulated: outbox',
  },
  {
    what: 'a cancelled code takes payments',
    file: 'packages/core/src/payments/refuse-credit.ts',
    from: `if (code.status === 'CANCELLED')`,
    to: 'if (code.closedAt === now)',
    tests: SIMULATE,
    named: 'simulated: cancel',
  },
  {
    what: 'coins live a day longer than they say',
    file: 'packages/core/src/coins/settle-wallet.ts',
    from: 'expiresAt !== null && expiresAt <= now',
    to: 'expiresAt !== null && expiresAt.getTime() <= now.getTime() - 86_400_000',
    tests: SIMULATE,
    named: 'simulated: expired coins',
  },
  {
    what: 'what a payment adds to a code is lost when two meet in a batch',
    file: 'packages/core/src/payments/accept-payment.ts',
    from: 'if (code) codes.set(code.qrCodeId, code)',
    to: 'if (code && !code.multipleUse) codes.set(code.qrCodeId, code)',
    tests: SIMULATE,
    named: 'simulated: lost update',
  },
  {
    what: 'an open event stream outlives its credential',
    file: 'packages/server/src/webhooks/stream-events.ts',
    from: 'if (caller.stillValid && !(await caller.stillValid())) return',
    to: '',
    tests: 'test/service/event-stream-credentials.test.ts',
    named: 'ends when its credential is revoked',
  },
  {
    what: 'a whole account goes on to a reader whose credential was revoked',
    file: 'packages/server/src/http/stream-slots.ts',
    from: "if (stillValid && !(await stillValid())) fail('invalid_token')",
    to: '',
    tests: 'test/service/stream-credentials.test.ts',
    named: 'breaks off when its credential is revoked',
  },
  {
    what: 'a token serves in the millisecond of its expiry',
    file: 'packages/core/src/tenants/access-token.ts',
    from: 'nowMs < expiresAtMs &&',
    to: 'nowMs <= expiresAtMs &&',
    tests: 'test/service/bearer-tokens.test.ts',
    named: 'last millisecond',
  },
  {
    what: 'a QR code is paid in the millisecond of its expiry',
    file: 'packages/core/src/payments/refuse-credit.ts',
    from: 'now < expiryAt)',
    to: 'now <= expiryAt)',
    tests: EXACT,
    named: 'accepts no payment',
  },
  {
    what: 'coins are spent in the millisecond of their expiry',
    file: 'packages/core/src/coins/settle-wallet.ts',
    from: 'expiresAt !== null && expiresAt <= now',
    to: 'expiresAt !== null && expiresAt < now',
    tests: EXACT,
    named: 'coins cannot be spent',
  },
  {
    what: 'an operator’s session serves in the millisecond of its end',
    file: 'packages/console-api/src/identity/session-store.ts',
    from: 's.expires_at > ${y}',
    to: 's.expires_at >= ${y}',
    tests: EXACT,
    named: 'session that is over',
  },
]
