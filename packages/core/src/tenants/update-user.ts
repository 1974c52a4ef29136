import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { type Profile, type User, users } from './user.ts'
import {
  addContacts,
  type Contacts,
  findByContacts,
  noContacts,
  requireOwnContacts,
} from './user-contacts.ts'

/** What a partner may change of a user; `null`: no longer known. */
export type UserChanges = { readonly [K in keyof Omit<Profile, 'pan'>]: string | null | undefined }

export interface UpdateUser {
  readonly partnerId: string
  readonly userId: string
  /** What is absent stays as it is. */
  readonly changes: UserChanges
}

interface Prepared extends UpdateUser {
  readonly tenantId: string
}

interface State {
  readonly users: Map<string, User>
  readonly contacts: Contacts
}

const LOCK = users.lock('to_change')
const saveProfiles = users.updates(
  ['email', 'mobile', 'title', 'firstName', 'middleName', 'lastName', 'gender', 'specialDate'],
  'profile',
)

/** Changes what is known of a user. Cards that were issued before keep their holder's data as ordered. */
export const updateUser = command({
  name: 'updateUser',
  prepare:
    () =>
    (args: UpdateUser): Prepared => ({ ...args, tenantId: args.partnerId }),
  lock,

  decide({ users: known, contacts }: State, { userId, changes }): User {
    const user = known.get(userId) ?? fail('user_not_found')
    if (user.erasedAt) fail('user_erased')
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
    const changed = { ...user, ...given }
    requireOwnContacts(contacts, changed, known)
    return changed
  },

  apply({ users: known, contacts }, user) {
    known.set(user.userId, user)
    addContacts(contacts, user)
  },

  save: (tx, changed) => saveProfiles(tx, [...new Map(changed.map((user) => [user.userId, user])).values()]),
})

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const locked = await users.lockRows<User>(tx, LOCK, commands)
  const wanted = commands.flatMap(({ partnerId, userId, changes: { mobile = null, email = null } }) => {
    const companyId = locked.of(partnerId).get(userId)?.companyId
    return companyId === undefined ? [] : [{ partnerId, companyId, mobile, email }]
  })
  const known = wanted.length === 0 ? [] : await findByContacts(tx, wanted)
  const state = new ByTenant((tenantId): State => ({ users: locked.of(tenantId), contacts: noContacts() }))
  for (const user of known) addContacts(state.of(user.partnerId).contacts, user)
  return state
}
