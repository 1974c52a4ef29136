import type pg from 'pg'

interface Account {
  readonly partnerId: string
  readonly companyId: string
  readonly cardAccountId: string
}

/** Id of the n-th card: of the form of ours, in order. */
export const manyCardId = (n: number): string => `card_${String(n).padStart(26, '0')}`

/**
 * Puts cards with numbers `from` to `to` into an account by SQL, as their issue would have left them: a holder of its
 * own each, loaded with 500 rupees out of the funding account. Superuser's work; the numbers are noise and open as nothing.
 */
export async function insertManyCards(
  admin: pg.Client,
  { partnerId, companyId, cardAccountId }: Account,
  from: number,
  to: number,
): Promise<void> {
  const values = [partnerId, companyId, cardAccountId, from, to]
  const series = 'generate_series($4::int, $5::int) n'
  const pad = `lpad(n::text, 26, '0')`
  // Names every parameter in every statement: PostgreSQL must know the type of each.
  const named = `(select $1::text as partner, $2::text as company, $3::text as account) given`
  const run = (text: string) => admin.query(text, values)
  // What refers to each other is made here: checking it row by row takes twice as long as the rows.
  await admin.query('set session_replication_role = replica')
  await run(`insert into users (user_id, partner_id, company_id, email, mobile, first_name, last_name, created_at)
    select 'usr_' || ${pad}, partner, company, 'employee' || n || '@example.com', lpad((6000000000 + n)::text, 10, '0'),
      'First' || n, 'Last' || n, now() from ${series}, ${named}`)
  await run(`insert into ledger_accounts (account_id, tenant_id, kind, unit, balance, floor, created_at)
    select 'card:card_' || ${pad}, partner, 'card', 'INR', 50000, 0, now() from ${series}, ${named}`)
  await run(`insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
    select partner, 'jrn_' || ${pad}, 'card_load', now()::date, 1, now() from ${series}, ${named}`)
  await run(`insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id,
      credit_account_id, amount, unit, object_id, created_at)
    select 'trf_' || ${pad}, partner, 'jrn_' || ${pad}, 1, 'card_load', 'card_funding:' || account, 'card:card_' || ${pad}, 50000, 'INR',
      'card_' || ${pad}, now() from ${series}, ${named}`)
  await run(`update ledger_accounts set balance = balance - 50000::bigint * ($5::int - $4::int + 1) from ${named}
    where account_id = 'card_funding:' || account and company is not null and tenant_id = partner`)
  await run(`insert into cards (svc_card_id, partner_id, company_id, card_account_id, user_id, number_encrypted,
      number_digest, masked_number, token, expiry_month, expiry_year, status, kyc_status, physical, activated, holder,
      load_paise, load_transfer_id, ciphertext_hash, created_at, modified_at)
    select 'card_' || ${pad}, partner, company, account, 'usr_' || ${pad},
      sha256(('s' || n)::bytea) || sha256(('t' || n)::bytea), sha256(('d' || n)::bytea),
      '999912XXXXXX' || lpad((n % 10000)::text, 4, '0'), 'crd_' || ${pad}, 1 + n % 12, 2030, 'UL', 'NOT_UPLOADED', false,
      true, jsonb_build_object('email', 'employee' || n || '@example.com', 'mobile', (6000000000 + n)::text, 'title',
        'Ms', 'firstName', 'First' || n, 'lastName', 'Last' || n),
      50000, 'trf_' || ${pad}, sha256(('h' || n)::bytea), now(), now() from ${series}, ${named}`)
  await run(`insert into card_transactions (partner_id, transaction_id, svc_card_id, card_account_id, company_id, kind,
      amount_paise, moved_paise, balance_paise, transfer_id, created_at)
    select partner, 'ctx_' || ${pad}, 'card_' || ${pad}, account, company, 'load', 50000, 50000, 50000, 'trf_' || ${pad},
      now() from ${series}, ${named}`)
  await admin.query('reset session_replication_role')
}
