import { newId, type RandomBytes } from '../kernel/ids.ts'
import type { Writes } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'
import type { Holder } from './card.ts'

/** A holder of cards: an employee of a company of a partner. */
export interface User {
  readonly userId: string
  readonly partnerId: string
  readonly companyId: string
  readonly profile: Pick<
    Holder,
    'email' | 'mobile' | 'title' | 'firstName' | 'middleName' | 'lastName' | 'gender' | 'specialDate' | 'pan'
  >
}

export interface UserRow {
  user_id: string
  partner_id: string
  company_id: string
  email: string | null
  mobile: string | null
  title: string | null
  first_name: string | null
  middle_name: string | null
  last_name: string | null
  gender: string | null
  special_date: string | null
  tax_pan: string | null
}

export const USER_COLUMNS = `u.user_id, u.partner_id, u.company_id, u.email, u.mobile, u.title, u.first_name, u.middle_name,
  u.last_name, u.gender, u.special_date, u.tax_pan`

export const toUser = (row: UserRow): User => ({
  userId: row.user_id,
  partnerId: row.partner_id,
  companyId: row.company_id,
  profile: {
    ...(row.email !== null && { email: row.email }),
    ...(row.mobile !== null && { mobile: row.mobile }),
    ...(row.title !== null && { title: row.title }),
    ...(row.first_name !== null && { firstName: row.first_name }),
    ...(row.middle_name !== null && { middleName: row.middle_name }),
    ...(row.last_name !== null && { lastName: row.last_name }),
    ...(row.gender !== null && { gender: row.gender }),
    ...(row.special_date !== null && { specialDate: row.special_date }),
    ...(row.tax_pan !== null && { pan: row.tax_pan }),
  },
})

const INSERT = statement(
  'users_insert',
  `insert into users (user_id, partner_id, company_id, email, mobile, title, first_name, middle_name, last_name, gender,
     special_date, tax_pan, created_at)
   select *, clock_timestamp() from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
     $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[]) order by 1`,
)

export function insertUsers(tx: Writes, users: readonly User[]): void {
  if (users.length === 0) return
  tx.write(
    INSERT,
    columns(
      users,
      (u) => u.userId,
      (u) => u.partnerId,
      (u) => u.companyId,
      ({ profile: p }) => p.email ?? null,
      ({ profile: p }) => p.mobile ?? null,
      ({ profile: p }) => p.title ?? null,
      ({ profile: p }) => p.firstName ?? null,
      ({ profile: p }) => p.middleName ?? null,
      ({ profile: p }) => p.lastName ?? null,
      ({ profile: p }) => p.gender ?? null,
      ({ profile: p }) => p.specialDate ?? null,
      ({ profile: p }) => p.pan ?? null,
    ),
  )
}

export const newUserId = (nowMs: number, random: RandomBytes): string => newId('usr', nowMs, random)
