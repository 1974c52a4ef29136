import { fail } from '@svc/contract/errors'
import { NestedMap } from '@svc/kernel/nested-map'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { type User, users } from './user.ts'

/** By which a user is known within a company: its mobile number and its e-mail address name one user each. */
export interface Contacts {
  readonly byMobile: NestedMap<[companyId: string, mobile: string], string>
  /** Addresses in lower case. */
  readonly byEmail: NestedMap<[companyId: string, email: string], string>
}

interface Wanted {
  readonly partnerId: string
  readonly companyId: string
  readonly mobile: string | null
  readonly email: string | null
}

const SAME_CONTACT = statement<User>(
  'users_of_contacts',
  `select ${users.columns} from users u
   where (u.partner_id, u.company_id, u.mobile) in (select * from unnest($1::text[], $2::text[], $3::text[]))
   union
   select ${users.columns} from users u
   where (u.partner_id, u.company_id, u.email_key) in (select * from unnest($1::text[], $2::text[], $4::text[]))`,
)

/** Users who have one of these contacts; a user that another process adds meanwhile, the unique indexes find. */
export const findByContacts = (tx: BatchTx, wanted: readonly Wanted[]): Promise<User[]> =>
  tx.query(
    SAME_CONTACT,
    columns(
      wanted,
      ({ partnerId }) => partnerId,
      ({ companyId }) => companyId,
      ({ mobile }) => mobile,
      ({ email }) => email?.toLowerCase() ?? null,
    ),
  )

export const noContacts = (): Contacts => ({ byMobile: new NestedMap(), byEmail: new NestedMap() })

export function addContacts(
  { byMobile, byEmail }: Contacts,
  { companyId, userId, mobile, email }: User,
): void {
  if (mobile !== null) byMobile.set([companyId, mobile], userId)
  if (email !== null) byEmail.set([companyId, email.toLowerCase()], userId)
}

/** Fails when another user of the company has the mobile number or the e-mail address. `changed`: users as they are now. */
export function requireOwnContacts(
  { byMobile, byEmail }: Contacts,
  user: User,
  changed?: ReadonlyMap<string, User>,
): void {
  const { companyId, mobile } = user
  const email = user.email?.toLowerCase() ?? null
  const isTaken = (other: string | undefined, hasIt: (now: User) => boolean): boolean => {
    if (other === undefined || other === user.userId) return false
    const now = changed?.get(other)
    return now === undefined || hasIt(now)
  }
  if (mobile !== null && isTaken(byMobile.get(companyId, mobile), (now) => now.mobile === mobile))
    fail('already_exists', { description: 'Another user of the company has this mobile number' })
  if (email !== null && isTaken(byEmail.get(companyId, email), (now) => now.email?.toLowerCase() === email))
    fail('already_exists', { description: 'Another user of the company has this e-mail address' })
}
