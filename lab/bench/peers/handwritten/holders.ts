import type pg from 'pg'
import { statement } from './database.ts'
import { fail } from './failures.ts'
import type { Order } from './gift-card-order.ts'
import { newId } from './values.ts'

interface UserRow extends pg.QueryResultRow {
  readonly user_id: string
  readonly email: string | null
  readonly mobile: string | null
  readonly title: string | null
  readonly first_name: string | null
  readonly middle_name: string | null
  readonly last_name: string | null
  readonly gender: string | null
  readonly special_date: string | null
  readonly tax_pan: string | null
}

const USER = `select user_id, email, mobile, title, first_name, middle_name, last_name, gender, special_date, tax_pan
   from users where partner_id = $1 and company_id = $2`
const USER_BY_ID = statement<UserRow>('user_by_id', `${USER} and user_id = $3`)
const USER_BY_MOBILE = statement<UserRow>('user_by_mobile', `${USER} and mobile = $3`)
const USER_BY_EMAIL = statement<UserRow>('user_by_email', `${USER} and email_key = $3`)
const INSERT_USER = statement(
  'user_insert',
  `insert into users (partner_id, company_id, user_id, email, mobile, title, first_name, middle_name, last_name, gender,
     special_date, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
)
/** By id, else by mobile or e-mail within the company. */
async function findUser(tx: pg.PoolClient, partnerId: string, order: Order): Promise<UserRow | undefined> {
  const { companyId, userId, mobile, email } = order
  if (userId !== undefined)
    return (await USER_BY_ID(tx, [partnerId, companyId, userId]))[0] ?? fail('user_not_found')
  const [byMobile] = mobile === undefined ? [] : await USER_BY_MOBILE(tx, [partnerId, companyId, mobile])
  if (byMobile || email === undefined) return byMobile
  return (await USER_BY_EMAIL(tx, [partnerId, companyId, email.toLowerCase()]))[0]
}

const profileOf = (user: UserRow): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      email: user.email,
      mobile: user.mobile,
      title: user.title,
      firstName: user.first_name,
      middleName: user.middle_name,
      lastName: user.last_name,
      gender: user.gender,
      specialDate: user.special_date,
      pan: user.tax_pan,
    }).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  )

/** The user of the order, known or new, and what is known of it. */
export async function userOf(tx: pg.PoolClient, partnerId: string, order: Order, now: Date) {
  const known = await findUser(tx, partnerId, order)
  if (known) return { userId: known.user_id, profile: profileOf(known) }
  const userId = newId('usr')
  const { companyId, email, mobile, title, firstName, middleName, lastName, gender, specialDate } = order
  const names = [title, firstName, middleName, lastName, gender, specialDate]
  await INSERT_USER(tx, [partnerId, companyId, userId, email, mobile, ...names, now])
  return { userId, profile: {} }
}
