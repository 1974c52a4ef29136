import { account, lockAccounts } from '../ledger/accounts.ts'
import type { Transfer } from '../ledger/transfers.ts'
import type { BatchTx } from '../platform/db/batch.ts'
import type { Writes } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'
import type { Card } from './card.ts'
import { CARD_ACCOUNT_SELECT, type CardAccount, type CardAccountRow, toCardAccount } from './card-account.ts'
import type { toCardRecord } from './card-record.ts'
import type { GiftCardOrder } from './gift-card-order.ts'
import { toUser, USER_COLUMNS, type User, type UserRow } from './user.ts'

/** A number that the card may get: what is kept of it. */
export interface DrawnNumber {
  /** Seals it for its card; of the numbers drawn only the one that is taken is sealed. */
  readonly seal: () => Buffer
  readonly digest: Buffer
  readonly masked: string
}

export interface CreateGiftCard {
  readonly tenantId: string
  readonly order: GiftCardOrder
  /** Paise; absent for the account's denomination. */
  readonly loadPaise: bigint | undefined
  readonly loadMaxPaise: bigint
  readonly validityMonths: number
  readonly numbers: readonly DrawnNumber[]
  readonly sealHash: Buffer | null
  readonly ids: {
    readonly card: string
    readonly token: string
    readonly user: string
    readonly transfer: string
    readonly event: string
  }
  readonly timeZone: string
}

export interface Issued {
  readonly card: Card
  readonly account: CardAccount
  readonly number: DrawnNumber
  readonly newUser: User | undefined
  readonly user: User
  readonly transfer: Transfer
  /** As it is answered, and as the event tells it. */
  readonly record: ReturnType<typeof toCardRecord>
  readonly command: CreateGiftCard
}

/** Everything that issuing cards depends on; keys carry the tenant, so that nothing of another partner is found. */
export interface IssuingState {
  /** `partner company`. */
  readonly companies: ReadonlySet<string>
  /** By `partner account`. */
  readonly accounts: ReadonlyMap<string, CardAccount>
  /** By `id partner user`, `mobile company mobile`, `email company address`. */
  readonly users: Map<string, User>
  /** Balances of the funding accounts, in paise, by ledger account. */
  readonly balances: Map<string, bigint>
  /** Digests, in base64. */
  readonly takenNumbers: Set<string>
  /** `partner seal`. */
  readonly usedSeals: Set<string>
}

export function userKeys({ userId, partnerId, companyId, profile: { mobile, email } }: User): string[] {
  return [
    `id ${partnerId} ${userId}`,
    ...(mobile === undefined ? [] : [`mobile ${companyId} ${mobile}`]),
    ...(email === undefined ? [] : [`email ${companyId} ${email.toLowerCase()}`]),
  ]
}

const COMPANIES = statement<{ partner_id: string; company_id: string }>(
  'issuing_companies',
  `select partner_id, company_id from companies where (partner_id, company_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const ACCOUNTS = statement<CardAccountRow>(
  'issuing_accounts',
  `${CARD_ACCOUNT_SELECT} where (a.partner_id, a.card_account_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const USERS = statement<UserRow>(
  'issuing_users',
  `select ${USER_COLUMNS} from users u
   where (u.partner_id, u.user_id) in (select * from unnest($1::text[], $2::text[]))
   union
   select ${USER_COLUMNS} from users u
   where (u.partner_id, u.company_id, u.mobile) in (select * from unnest($1::text[], $3::text[], $4::text[]))
   union
   select ${USER_COLUMNS} from users u
   where (u.partner_id, u.company_id, u.email_key) in (select * from unnest($1::text[], $3::text[], $5::text[]))`,
)
const NUMBERS = statement<{ digest: Buffer }>(
  'issuing_numbers',
  'select digest from directory_card_numbers($1)',
)
const SEALS = statement<{ partner_id: string; seal_hash: Buffer }>(
  'issuing_seals',
  `select partner_id, seal_hash from cards where (partner_id, seal_hash) in (select * from unnest($1::text[], $2::bytea[]))`,
)

/** Reads what issuing depends on and locks the funding accounts; all of it travels together. */
export async function lockIssuing(tx: BatchTx, orders: readonly CreateGiftCard[]): Promise<IssuingState> {
  if (orders.length === 0) return emptyState()
  const sealed = orders.filter(({ sealHash }) => sealHash)
  const [companies, accounts, users, numbers, seals, balances] = await Promise.all([
    tx.query(
      COMPANIES,
      columns(
        orders,
        (o) => o.tenantId,
        (o) => o.order.companyId,
      ),
    ),
    tx.query(
      ACCOUNTS,
      columns(
        orders,
        (o) => o.tenantId,
        (o) => o.order.cardAccountId,
      ),
    ),
    tx.query(
      USERS,
      columns(
        orders,
        (o) => o.tenantId,
        (o) => o.order.userId ?? null,
        (o) => o.order.companyId,
        (o) => o.order.mobile ?? null,
        (o) => o.order.email?.toLowerCase() ?? null,
      ),
    ),
    tx.query(NUMBERS, [orders.flatMap((o) => o.numbers.map(({ digest }) => digest))]),
    sealed.length > 0
      ? tx.query(
          SEALS,
          columns(
            sealed,
            (o) => o.tenantId,
            (o) => o.sealHash,
          ),
        )
      : [],
    lockAccounts(
      tx,
      orders.map((o) => account('card_funding', o.tenantId, o.order.cardAccountId)),
    ),
  ])
  return {
    companies: new Set(companies.map((row) => `${row.partner_id} ${row.company_id}`)),
    accounts: new Map(
      accounts.map(toCardAccount).map((a): [string, CardAccount] => [`${a.partnerId} ${a.cardAccountId}`, a]),
    ),
    users: new Map(
      users.map(toUser).flatMap((user) => userKeys(user).map((key): [string, User] => [key, user])),
    ),
    balances,
    takenNumbers: new Set(numbers.map(({ digest }) => digest.toString('base64'))),
    usedSeals: new Set(seals.map((row) => `${row.partner_id} ${row.seal_hash.toString('base64')}`)),
  }
}

const emptyState = (): IssuingState => ({
  companies: new Set(),
  accounts: new Map(),
  users: new Map(),
  balances: new Map(),
  takenNumbers: new Set(),
  usedSeals: new Set(),
})

const INSERT = statement(
  'cards_insert',
  `insert into cards (svc_card_id, partner_id, company_id, card_account_id, user_id, number_sealed, number_digest,
     masked_number, token, expiry_month, expiry_year, status, kyc_status, physical, activated, holder,
     physical_requested_at, load_paise, load_transfer_id, pos_allowed, pos_allowed_admin, atm_allowed, atm_allowed_admin,
     online_allowed, online_allowed_admin, seal_hash, created_at, modified_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[],
     $8::text[], $9::text[], $10::smallint[], $11::smallint[], $12::text[], $13::text[], $14::boolean[], $15::boolean[],
     $16::jsonb[], $17::timestamptz[], $18::bigint[], $19::text[], $20::boolean[], $21::boolean[], $22::boolean[],
     $23::boolean[], $24::boolean[], $25::boolean[], $26::bytea[], $27::timestamptz[], $27::timestamptz[]) order by 1`,
)

export function insertCards(tx: Writes, issued: readonly Issued[]): void {
  if (issued.length === 0) return
  tx.write(
    INSERT,
    columns(
      issued,
      ({ card }) => card.svcCardId,
      ({ card }) => card.partnerId,
      ({ card }) => card.companyId,
      ({ card }) => card.cardAccountId,
      ({ card }) => card.userId,
      ({ number }) => number.seal(),
      ({ number }) => number.digest,
      ({ card }) => card.maskedNumber,
      ({ card }) => card.token,
      ({ card }) => card.expiryMonth,
      ({ card }) => card.expiryYear,
      ({ card }) => card.status,
      ({ card }) => card.kycStatus,
      ({ card }) => card.physical,
      ({ card }) => card.activated,
      ({ card }) => JSON.stringify(card.holder),
      ({ card }) => card.physicalRequestedAt,
      ({ card }) => card.loadPaise,
      ({ card }) => card.loadTransferId,
      ({ card }) => card.channels.pos.allowed,
      ({ card }) => card.channels.pos.allowedAdmin,
      ({ card }) => card.channels.atm.allowed,
      ({ card }) => card.channels.atm.allowedAdmin,
      ({ card }) => card.channels.online.allowed,
      ({ card }) => card.channels.online.allowedAdmin,
      ({ command }) => command.sealHash,
      ({ card }) => card.createdAt,
    ),
  )
}
