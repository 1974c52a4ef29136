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
/** The simulation must find it. */
export const SIMULATE = 'simulate'
export const MUTATIONS: readonly Mutation[] = [
  {
    what: 'rows are read without a lock',
    file: 'src/platform/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: RACES,
    named: 'single-use codes',
  },
  {
    what: 'rows are read without a lock',
    file: 'src/platform/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: RACES,
    named: 'cancel against pay',
  },
  {
    what: 'one bank reference may name several credits',
    file: 'migrations/0001_tenants_ledger_qr_codes.sql',
    from: 'constraint one_credit_per_utr unique (utr)',
    to: `constraint one_credit_per_utr check (utr <> '')`,
    tests: RACES,
    named: 'one bank reference',
  },
  {
    what: 'one reference may be held by several codes',
    file: 'migrations/0001_tenants_ledger_qr_codes.sql',
    from: 'create unique index qr_codes_reference',
    to: 'create index qr_codes_reference',
    tests: RACES,
    named: 'one referenceNumber',
  },
  {
    what: 'the first answer of a key is not kept',
    file: 'src/platform/db/batch.ts',
    from: 'if (keep.length > 0) answers.save',
    to: 'if (keep.length < 0) answers.save',
    tests: 'test/service/idempotency.test.ts',
    named: '64 callers with one key',
  },
  {
    what: 'a batch leaves no trace by which a lost COMMIT could be settled',
    file: 'src/platform/db/batch.ts',
    from: "`insert into batches values ('${batchId}')`",
    to: "`insert into batches values ('${batchId}' || clock_timestamp())`",
    tests: 'test/service/write-path.test.ts',
    named: 'connections cut around COMMIT',
  },
  {
    what: 'rows are read without a lock',
    file: 'src/platform/db/row-lock.ts',
    from: '${from} for no key update of ${of}`',
    to: '${from}`.replace(/$/, of ? "" : "")',
    tests: SIMULATE,
    named: 'simulated: row lock',
  },
  {
    what: 'a batch id may be written twice',
    file: 'migrations/0001_tenants_ledger_qr_codes.sql',
    from: 'batch_id   text collate "C" primary key,',
    to: 'batch_id   text collate "C" not null,',
    tests: SIMULATE,
    named: 'simulated: unique key',
  },
  {
    what: 'what was sent before a lost COMMIT is sent again under a new id',
    file: 'src/platform/db/lane.ts',
    from: 'await this.#attempt({ batchId, entries',
    to: 'await this.#attempt({ batchId: batchId && newBatchId(), entries',
    tests: SIMULATE,
    named: 'simulated: new batch id',
  },
  {
    what: 'the first answer of a key is kept in a transaction of its own',
    file: 'src/platform/db/batch.ts',
    from: 'answers.save(tx, keep, now)',
    to: 'await database.write(keep.map(({ key }) => key.tenantId), async (own) => answers.save(own, keep, now))',
    tests: SIMULATE,
    named: 'simulated: idempotency outside',
  },
  {
    what: 'the first answer of a key is not kept',
    file: 'src/platform/db/batch.ts',
    from: 'if (keep.length > 0) answers.save',
    to: 'if (keep.length < 0) answers.save',
    tests: SIMULATE,
    named: 'simulated: answers forgotten',
  },
  {
    what: 'callers are answered before the COMMIT is',
    file: 'src/platform/db/batch.ts',
    from: '    await commit(client, tx, sent)\n    return decided',
    to: '    commit(client, tx, sent).catch(() => undefined)\n    return decided',
    tests: SIMULATE,
    named: 'simulated: early answer',
  },
  {
    what: 'a card may be overspent',
    file: 'src/cards/spend-card.ts',
    from: 'if (balancePaise < amountPaise)',
    to: 'if (balancePaise < -amountPaise)',
    also: [
      {
        file: 'migrations/0001_tenants_ledger_qr_codes.sql',
        from: 'check (balance >= floor)',
        to: 'check (balance is not null)',
      },
    ],
    tests: SIMULATE,
    named: 'simulated: floor',
  },
  {
    what: 'payments are not told of',
    file: 'src/qr-codes/accept-payment.ts',
    from: 'saveEvents(tx, recorded.flatMap(eventsOf))',
    to: 'saveEvents(tx, recorded.slice(1).flatMap(eventsOf))',
    tests: SIMULATE,
    named: 'simulated: outbox',
  },
  {
    what: 'a cancelled code takes payments',
    file: 'src/qr-codes/accept-payment.ts',
    from: `if (code.status === 'CANCELLED') return 'qr_code_cancelled'`,
    to: '',
    tests: SIMULATE,
    named: 'simulated: cancel',
  },
  {
    what: 'coins live a day longer than they say',
    file: 'src/coins/wallet.ts',
    from: 'expiresAt !== null && expiresAt <= now',
    to: 'expiresAt !== null && expiresAt.getTime() <= now.getTime() - 86_400_000',
    tests: SIMULATE,
    named: 'simulated: expired coins',
  },
  {
    what: 'what a payment adds to a code is lost when two meet in a batch',
    file: 'src/qr-codes/accept-payment.ts',
    from: 'if (payee) state.payees.set(code.qrCodeId, { ...payee, code })',
    to: 'if (payee && code.multipleUse) state.payees.set(code.qrCodeId, { ...payee })',
    tests: SIMULATE,
    named: 'simulated: lost update',
  },
]
