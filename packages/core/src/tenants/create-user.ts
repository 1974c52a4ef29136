import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { findCompanies } from './company.ts'
import { newUser, type Profile, type User, users } from './user.ts'
import {
  addContacts,
  type Contacts,
  findByContacts,
  noContacts,
  requireOwnContacts,
} from './user-contacts.ts'

export interface CreateUser {
  readonly partnerId: string
  readonly companyId: string
  readonly profile: Profile
}

interface Prepared extends CreateUser {
  readonly tenantId: string
  readonly userId: string
}

interface State {
  readonly companies: Set<string>
  readonly contacts: Contacts
}

/** Registers a user of a company: an employee, who holds its cards and coins. */
export const createUser = command({
  name: 'createUser',

  prepare:
    ({ newId }) =>
    (args: CreateUser): Prepared => ({ ...args, tenantId: args.partnerId, userId: newId('usr') }),

  lock,

  decide({ companies, contacts }: State, { userId, partnerId, companyId, profile }, now): User {
    if (!companies.has(companyId)) fail('company_not_found')
    const user = newUser({ userId, partnerId, companyId, profile, createdAt: now })
    requireOwnContacts(contacts, user)
    return user
  },

  apply: ({ contacts }, user) => addContacts(contacts, user),
  save: (tx, made) => users.insert(tx, made),
})

async function lock(tx: BatchTx, creates: readonly Prepared[]): Promise<ByTenant<State>> {
  const wanted = creates.map(({ partnerId, companyId, profile: { mobile = null, email = null } }) => ({
    partnerId,
    companyId,
    mobile,
    email,
  }))
  const [companies, known] = await Promise.all([findCompanies(tx, creates), findByContacts(tx, wanted)])
  const state = new ByTenant(
    (tenantId): State => ({ companies: companies.of(tenantId), contacts: noContacts() }),
  )
  for (const user of known) addContacts(state.of(user.partnerId).contacts, user)
  return state
}
