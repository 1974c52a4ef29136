import type { Run } from '@svc/platform/db/migration-files'
import { expect, test } from 'vitest'
import { problemsOf } from '../../scripts/migration-rules.ts'

const HEADS: Readonly<Record<Run, string>> = {
  transaction: '',
  statements: '-- run: statement by statement\n',
  batches: '-- run: in batches\n',
}
const problems = (sql: string, run: Run = 'transaction') =>
  problemsOf({ name: '9000_test', run, sql: `${HEADS[run]}${sql}` })

test.each<[sql: string, instead: RegExp, run?: Run]>([
  ['create index i on payments (utr);', /not built concurrently/],
  ['create unique index i on payments (utr);', /not built concurrently/],
  ['create index concurrently i on payments (utr);', /statement by statement/],
  ['create index concurrently i on payments (utr);', /drop index concurrently if exists i/, 'statements'],
  ['drop index i;', /dropped concurrently/],
  ['alter table payments add column note text not null;', /needs a default/],
  ['alter table payments add column n double precision default random();', /computed for each row/],
  ['alter table payments add column note text unique;', /unique column/],
  ['alter table payments add column q text references qr_codes (tr);', /by itself, not valid/],
  ['alter table payments add check (amount_paise > 0);', /not valid/],
  ['alter table payments add foreign key (tr) references qr_codes (tr);', /not valid/],
  ['alter table payments add unique (utr);', /using index/],
  ['alter table payments alter column utr type varchar(40);', /rewrites the table/],
  ['alter table payments alter column payer_vpa set not null;', /scans the table/],
  ['alter table payments validate constraint c;', /statement by statement/],
  ['alter table payments drop column note;', /unused since/],
  ['alter table payments rename column utr to reference;', /previous name/],
  ['alter table payments rename to credits;', /previous name/],
  ['drop table payments;', /unused since/],
  ['drop function directory_payments(text[]);', /unused since/],
  ["update payments set reason = '';", /in batches/],
  ['delete from payments;', /in batches/],
  ['truncate payments;', /deletes data/],
  ['lock table payments;', /locks a table/],
  ["update payments set reason = '';\ndelete from refunds;", /one statement/, 'batches'],
])('%s is rejected', async (sql, instead, run) => {
  expect(await problems(sql, run)).toEqual([expect.stringMatching(instead)])
})

test.each<[sql: string, run?: Run]>([
  [
    'create table notes (id text primary key, body text not null); create index notes_by_body on notes (body);',
  ],
  ["create table kinds (id text primary key); insert into kinds values ('a'); update kinds set id = 'b';"],
  ['drop index concurrently if exists i;\ncreate index concurrently i on payments (utr);', 'statements'],
  ["alter table payments add column note text not null default '';"],
  ['alter table payments add column seen_at timestamptz not null default now();'],
  ['alter table payments add check (amount_paise > 0) not valid;'],
  ['alter table payments validate constraint c;', 'statements'],
  ['alter table payments add constraint u unique using index i;'],
  ['-- unused since 1.4.0\nalter table payments drop column note;'],
  ['-- unused since 1.4.0\ndrop table former_payments;'],
  [
    "update payments set reason = '' where payment_id in (select payment_id from payments where reason is null limit 1000);",
    'batches',
  ],
  [
    'create or replace function f() returns integer language sql as $$ select 1 $$; grant select on payments to svc_operator;',
  ],
])('%s is accepted', async (sql, run) => {
  expect(await problems(sql, run)).toEqual([])
})
