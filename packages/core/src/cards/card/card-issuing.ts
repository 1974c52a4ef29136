import { ByTenant } from '@svc/kernel/by-tenant'
import { NestedMap } from '@svc/kernel/nested-map'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import type { OutboxEvent } from '@svc/platform/outbox'
import { account, lockAccounts } from '../../ledger/accounts.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { type User, users } from '../../tenants/user.ts'
import { CARD_ACCOUNT_SELECT, type CardAccount } from '../account/card-account.ts'
import type { CardForm, CardView, toCardRecord } from './card-record.ts'
import { type DrawnNumber, takenNumbers } from './draw-number.ts'
import { type Comparable, type EarlierOrders, readEarlierOrders } from './earlier-orders.ts'
import type { GiftCardOrder } from './gift-card-order.ts'
import type { LoadTerms } from './load-limits.ts'

export interface CreateGiftCard {
  readonly partnerId: string
  readonly order: GiftCardOrder
  /** Of the encrypted request, which counts once (decision C13). */
  readonly ciphertextHash: Buffer | undefined
  /** Of an order over the API without a key: only its content can show that it is a repeat (decision C22). */
  readonly hasNoKey?: true | undefined
}

export interface PreparedGiftCard extends CreateGiftCard, Comparable, CardForm {
  readonly loadTerms: LoadTerms
  readonly validityMonths: number
  readonly numbers: readonly DrawnNumber[]
  readonly ids: {
    readonly card: string
    readonly token: string
    readonly user: string
    readonly transfer: string
    readonly event: string
    readonly low: string
  }
}

/** A card that an order created. */
export interface NewCard {
  readonly view: CardView
  readonly number: DrawnNumber
  readonly newUser: User | undefined
  readonly transfer: Transfer
  /** Where the load brought the balance of the card account below its threshold. */
  readonly low: OutboxEvent | undefined
}

export interface Issued {
  /** Absent for the repeat of an earlier order. */
  readonly created: NewCard | undefined
  /** Of a repeat: when, and the card of the earlier order. */
  readonly repeats: { readonly svcCardId: string; readonly at: Date } | undefined
  /** As it is in the response and in the event. */
  readonly record: ReturnType<typeof toCardRecord>
  readonly command: PreparedGiftCard
}

/** Everything that issuing a partner's cards depends on. */
export interface IssuingState {
  readonly companies: Set<string>
  readonly accounts: Map<string, CardAccount>
  readonly users: Users
  /** Balances of the funding accounts, in paise, by ledger account. */
  readonly balances: Map<string, bigint>
  /** Digests, in base64, and the same for all partners: a number is on one card only (decision C11). */
  readonly takenNumbers: Set<string>
  /** In base64. */
  readonly usedJwes: Set<string>
  readonly earlier: EarlierOrders
}

interface Users {
  readonly byId: Map<string, User>
  readonly byMobile: NestedMap<[companyId: string, mobile: string], User>
  /** Addresses in lower case. */
  readonly byEmail: NestedMap<[companyId: string, email: string], User>
}

export function addUser({ byId, byMobile, byEmail }: Users, user: User): void {
  const { companyId, email, mobile } = user
  byId.set(user.userId, user)
  if (mobile !== null) byMobile.set([companyId, mobile], user)
  if (email !== null) byEmail.set([companyId, email.toLowerCase()], user)
}

const COMPANIES = statement<{ partnerId: string; companyId: string }>(
  'issuing_companies',
  `select partner_id as "partnerId", company_id as "companyId" from companies
   where (partner_id, company_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const ACCOUNTS = statement<CardAccount>(
  'issuing_accounts',
  `${CARD_ACCOUNT_SELECT} where (a.partner_id, a.card_account_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const USERS = statement<User>(
  'issuing_users',
  `select ${users.columns} from users u
   where (u.partner_id, u.user_id) in (select * from unnest($1::text[], $2::text[]))
   union
   select ${users.columns} from users u
   where (u.partner_id, u.company_id, u.mobile) in (select * from unnest($1::text[], $3::text[], $4::text[]))
   union
   select ${users.columns} from users u
   where (u.partner_id, u.company_id, u.email_key) in (select * from unnest($1::text[], $3::text[], $5::text[]))`,
)
const JWES = statement<{ partnerId: string; ciphertextHash: Buffer }>(
  'issuing_ciphertexts',
  `select partner_id as "partnerId", ciphertext_hash as "ciphertextHash" from cards
   where (partner_id, ciphertext_hash) in (select * from unnest($1::text[], $2::bytea[]))`,
)

const usedJwes = async (tx: BatchTx, orders: readonly PreparedGiftCard[]) => {
  const encrypted = orders.filter(({ ciphertextHash }) => ciphertextHash)
  if (encrypted.length === 0) return []
  const given = columns(
    encrypted,
    (o) => o.tenantId,
    (o) => o.ciphertextHash,
  )
  return tx.query(JWES, given)
}

const takenNumbersOf = (tx: BatchTx, orders: readonly PreparedGiftCard[]) =>
  takenNumbers(
    tx,
    orders.flatMap((o) => o.numbers),
  )

/** Reads what issuing depends on and locks the funding accounts; all of it travels together. */
export async function lockIssuing(
  tx: BatchTx,
  orders: readonly PreparedGiftCard[],
): Promise<ByTenant<IssuingState>> {
  const [known, accounts, taken, jwes, balances, knownUsers, earlier] = await Promise.all([
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
    takenNumbersOf(tx, orders),
    usedJwes(tx, orders),
    lockAccounts(
      tx,
      orders.map((o) => account('card_funding', o.tenantId, o.order.cardAccountId)),
    ),
    // Behind the lock, so that they see what that waited for: an earlier order, or the erasure of a user.
    tx.query(
      USERS,
      columns(
        orders,
        (o) => o.tenantId,
        (o) => o.order.userId ?? null,
        (o) => o.order.companyId,
        (o) => o.order.holder.mobile ?? null,
        (o) => o.order.holder.email?.toLowerCase() ?? null,
      ),
    ),
    readEarlierOrders(tx, orders),
  ])
  const state = new ByTenant(
    (tenantId): IssuingState => ({
      companies: new Set(),
      accounts: new Map(),
      users: { byId: new Map(), byMobile: new NestedMap(), byEmail: new NestedMap() },
      balances: balances.of(tenantId),
      takenNumbers: taken,
      usedJwes: new Set(),
      earlier: earlier.of(tenantId),
    }),
  )
  for (const { partnerId, companyId } of known) state.of(partnerId).companies.add(companyId)
  for (const found of accounts) state.of(found.partnerId).accounts.set(found.cardAccountId, found)
  for (const user of knownUsers) addUser(state.of(user.partnerId).users, user)
  for (const { partnerId, ciphertextHash } of jwes)
    state.of(partnerId).usedJwes.add(ciphertextHash.toString('base64'))
  return state
}
