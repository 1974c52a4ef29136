import { statement } from '@svc/platform/db/statement'
import { type Check, check, subjects } from '../ledger/reconcile.ts'

const LINES = subjects('lines of bank statements', 'statement_lines')
const STATEMENTS = subjects('bank statements', 'bank_statements')
const EXPLAINED = subjects(
  'explained lines of bank statements',
  'statement_lines where document_id is not null',
)

/** What must be true between what banks say and the ledger. */
export const STATEMENT_CHECKS: readonly Check[] = [
  check(
    'statement_balances',
    LINES,
    'Lines of a bank account follow one another by their balances, from its opening balance on',
    (chosen) => `select l.line_id as subject, 'balance ' || l.balance_paise || ', before it '
         || coalesce(l.before, l.opening_paise) || ', amount ' || l.amount_paise as detail
       from (
         select l.*, b.opening_paise,
           lag(l.balance_paise) over (partition by l.bank_account_id order by l.booked_on, l.place) as before
         from statement_lines l join bank_accounts b on b.tenant_id = l.tenant_id and b.bank_account_id = l.bank_account_id) l
       where ${chosen('l.line_id')} and l.balance_paise <> coalesce(l.before, l.opening_paise) + l.amount_paise limit 100`,
  ),
  {
    check: 'A bank statement opens and closes with the balances that its lines have',
    of: STATEMENTS,
    differences: statement(
      'reconcile_bank_statements',
      `select s.statement_id as subject, 'opening ' || s.opening_paise || ', before its lines ' || first.before
         || ', closing ' || s.closing_paise || ', after them ' || last.balance_paise as detail
       from bank_statements s
         -- Its last line, which is new unless all of its lines were known.
         cross join lateral (
           select l.booked_on, l.place, l.balance_paise from statement_lines l
           where l.tenant_id = s.tenant_id and l.bank_account_id = s.bank_account_id
             and l.booked_on <= s.through
             and (l.statement_id = s.statement_id or s.new_lines = 0 and l.booked_on = s.through and l.place = s.last_place)
           order by l.booked_on desc, l.place desc limit 1) last
         cross join lateral (
           select l.balance_paise - l.amount_paise as before from statement_lines l
           where l.tenant_id = s.tenant_id and l.bank_account_id = s.bank_account_id
             and (l.booked_on, l.place) <= (last.booked_on, last.place)
           order by l.booked_on desc, l.place desc offset s.lines - 1 limit 1) first
       where s.lines > 0 and (s.opening_paise, s.closing_paise) <> (first.before, last.balance_paise)
       union all
       select s.statement_id, 'opening ' || s.opening_paise || ', closing ' || s.closing_paise || ', no lines'
       from bank_statements s
       where s.lines = 0 and s.opening_paise <> s.closing_paise limit 100`,
    ),
  },
  check(
    'statement_lines',
    EXPLAINED,
    'A line of a bank statement has one state, and a movement has at most one line in an account’s purpose',
    (
      chosen,
    ) => `select l.line_id as subject, l.status || ', ' || l.document_id || ' has ' || l.times || ' lines' as detail
       from (
         select l.line_id, l.status, l.document_id, l.resolved_as,
           count(*) over (partition by l.purpose, coalesce(run.document_id, l.document_id)) as times
         from statement_lines l
           left join statement_lines run on run.purpose = l.purpose and run.document_id = run_of_payout(l.document_id)
         where l.document_id is not null) l
       where ${chosen('l.line_id')}
         and (l.times > 1 or l.status = 'UNMATCHED' or (l.status = 'RESOLVED') <> (l.resolved_as is not null)) limit 100`,
  ),
  check(
    'statement_postings',
    EXPLAINED,
    'What a line of a bank statement posted has its amount and its day, and stands',
    (
      chosen,
    ) => `select l.line_id as subject, 'amount ' || l.amount_paise || ' of ' || l.booked_on || ', posted '
         || coalesce(t.amount, 0) || ' of ' || coalesce(j.effective_date::text, 'no day') as detail
       from statement_lines l
         left join journals j on j.tenant_id = l.journal_tenant and j.journal_id = l.journal_id
         left join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
       where ${chosen('l.line_id')} and l.journal_id is not null
         and ((t.amount, j.effective_date) is distinct from (abs(l.amount_paise), l.booked_on)
           or exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id)) limit 100`,
  ),
]
