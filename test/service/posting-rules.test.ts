import {
  ACCOUNT_KINDS,
  type AccountKind,
  CHART_OF_ACCOUNTS,
  kindOf,
} from '@svc/core/ledger/chart-of-accounts'
import { POSTING_RULES } from '@svc/core/ledger/posting-rules'
import { beforeAll, expect, test } from 'vitest'
import { LONG } from '../harness/long.ts'
import { asSuperuser, newDatabase, type TestDatabase } from '../harness/service.ts'
import { sourcesOf } from '../harness/sources.ts'

let db: TestDatabase

beforeAll(async () => {
  db = await newDatabase()
})

const rowsOf = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(db.database, async (client) => (await client.query<Row>(text, values)).rows)

/** The statements that make a table have these rows; none where it has them. */
async function missingIn(
  table: string,
  columns: readonly string[],
  wanted: readonly (readonly (string | boolean)[])[],
): Promise<string[]> {
  const found = await rowsOf<Record<string, string | boolean>>(`select ${columns.join(', ')} from ${table}`)
  const text = (row: readonly (string | boolean)[]) =>
    `(${row.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(', ')})`
  const [now, then] = [found.map((row) => text(columns.map((name) => row[name]!))), wanted.map(text)]
  return [
    ...now
      .filter((row) => !then.includes(row))
      .map((row) => `delete from ${table} where (${columns.join(', ')}) = ${row};`),
    ...then
      .filter((row) => !now.includes(row))
      .map((row) => `insert into ${table} (${columns.join(', ')}) values ${row};`),
  ]
}

test('the database has the chart of accounts and the permitted movements of the program, and no others', async () => {
  const kinds = ACCOUNT_KINDS.map((kind): (string | boolean)[] => {
    const { unit, isBounded } = CHART_OF_ACCOUNTS[kind]
    return [kind, unit, isBounded]
  })
  expect(await missingIn('account_kinds', ['kind', 'unit', 'is_bounded'], kinds)).toEqual([])
  const columns = [
    'journal_kind',
    'leg_kind',
    'debit_kind',
    'credit_kind',
    'on_word_of',
    'is_manual',
    'is_reversible',
  ]
  const rules = POSTING_RULES.map(
    ({ journalKind, legKind, debitKind, creditKind, word, isManual, isReversible }): (string | boolean)[] => [
      journalKind,
      legKind,
      debitKind,
      creditKind,
      word,
      isManual,
      isReversible,
    ],
  )
  expect(await missingIn('posting_rules', columns, rules)).toEqual([])
})

test('every kind of journal that may be entered is one that the program makes', () => {
  // Texts of SQL read journals: who makes one names its kind outside of them.
  const made = sourcesOf(['core'])
    .filter(({ file }) => !file.endsWith('/posting-rules.ts'))
    .map(({ text }) => text.replaceAll(/`[^`]*`/g, ''))
    .join('\n')
  const kinds = new Set(POSTING_RULES.map(({ journalKind }) => journalKind))
  expect([...kinds].filter((kind) => !made.includes(`'${kind}'`))).toEqual([])
})

test('every kind of account is debited and credited, but for what is over', () => {
  for (const kind of ACCOUNT_KINDS) {
    const { isFinal = false } = kindOf(kind)
    const isDebited = POSTING_RULES.some(({ debitKind }) => debitKind === kind)
    expect([kind, isDebited]).toEqual([kind, !isFinal])
    expect([kind, POSTING_RULES.some(({ creditKind }) => creditKind === kind)]).toEqual([kind, true])
  }
})

/** These a foreign key refuses first. */
function isBetweenUnits(pair: string): boolean {
  const [debit, credit] = pair.split(' ').slice(2) as [AccountKind, AccountKind]
  return kindOf(debit).unit !== kindOf(credit).unit
}

/** Of the movements that are not listed the usual run tries every 25th: 60,000 take minutes. */
const TRIED = LONG ? 1 : 25

test(`of all kinds of journals and legs between all kinds of accounts, the database permits what is listed (of the others, one of ${TRIED})`, async () => {
  const journals = [...new Set(POSTING_RULES.map(({ journalKind }) => journalKind)), 'invented']
  const legs = [...new Set(POSTING_RULES.map(({ legKind }) => legKind)), 'invented']
  const listed = new Set(
    POSTING_RULES.map((rule) => [rule.journalKind, rule.legKind, rule.debitKind, rule.creditKind].join(' ')),
  )
  const permitted = await asSuperuser(db.database, async (client) => {
    await client.query(`
      begin;
      insert into tenants (tenant_id, kind, created_at) values ('mer_rules', 'merchant', now());
      insert into ledger_accounts (account_id, tenant_id, kind, unit, balance, floor, created_at)
        select kind || ':' || n, 'mer_rules', kind, unit, 0, case when is_bounded then 0 end, now()
        from account_kinds, generate_series(1, 2) n;
      update ledger_accounts set balance = 1000 where tenant_id = 'mer_rules';
      -- Each is tried, and undone.
      create function pg_temp.problem(journal text, leg text, debit text, credit text) returns text
        language plpgsql as $$
        declare found text;
        begin
          insert into ledger_transfers values ('trf_rules', 'mer_rules', 'jrn_' || journal, 1, leg, debit || ':1', credit || ':2',
            1, (select unit from account_kinds where kind = debit), 'x', now());
          raise exception 'undone' using errcode = 'P0001';
        exception
          when raise_exception then return null;
          when others then get stacked diagnostics found = constraint_name; return found;
        end $$`)
    await client.query(
      `insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
         select 'mer_rules', 'jrn_' || j, j, current_date, 1, now() from unnest($1::text[]) j`,
      [journals],
    )
    const { rows } = await client.query<{ pair: string; problem: string | null }>(
      `select pair, pg_temp.problem(j, l, debit, credit) as problem
       from (select j, l, d.kind as debit, c.kind as credit, concat_ws(' ', j, l, d.kind, c.kind) as pair
         from unnest($1::text[]) j, unnest($2::text[]) l, account_kinds d, account_kinds c
         where l = j or l like 'card\\_%' and j like 'card\\_%' or l = 'invented' or j = 'invented') of_all
       where pair = any ($3) or abs(hashtext(pair)::bigint) % $4 = 0`,
      [journals, legs, [...listed], TRIED],
    )
    await client.query('rollback')
    expect(rows.length).toBeGreaterThan(60_000 / TRIED)
    return rows
  })
  for (const { pair, problem } of permitted) {
    // A reversal of nothing mirrors nothing.
    const expected = pair.startsWith('journal_reversal ') ? 'reversals_mirror' : null
    if (!listed.has(pair) && problem !== null && isBetweenUnits(pair)) continue
    expect([pair, problem]).toEqual([pair, listed.has(pair) ? expected : 'postings_are_permitted'])
  }
}, 600_000)

test('every movement is between accounts of one unit', () => {
  for (const { debitKind, creditKind } of POSTING_RULES)
    expect([debitKind, creditKind, CHART_OF_ACCOUNTS[debitKind].unit]).toEqual([
      debitKind,
      creditKind,
      CHART_OF_ACCOUNTS[creditKind].unit,
    ])
})
