import { fail } from '@svc/contract/errors'

/** What an operation of the console may need, and what it is for (decision O2). */
export const PERMISSIONS = {
  view: 'see everything, with personal data masked; manage the own account',
  reveal: 'reveal personal data for 15 minutes, with a reason',
  support:
    'lock, unlock and block cards, open and close their channels; create and cancel QR codes; send webhook events again',
  contest:
    'contest disputes: ask a merchant for more evidence, add evidence for it, send it to the bank, record its receipt',
  finance:
    'fund card accounts, set bank accounts and fees of merchants, complete refunds, close disputes, assign and return suspense, correct payments, prepare, approve and complete payouts, approve and reverse postings, import bank files, match and resolve statement lines, issue invoices, close the books, void coin allocations, read bank notices and card exceptions',
  operations:
    'create, edit and disable tenants, companies, users, card accounts and coin configurations; issue gift cards; move the KYC of cards; issue, hand over and revoke credentials; manage members and webhook endpoints',
  acknowledge: 'acknowledge alerts',
  verify: 'start reconciliations and verify the audit',
  administer: 'manage operators, close tenants, erase users',
} as const
export type Permission = keyof typeof PERMISSIONS

const BY_ROLE = {
  viewer: ['view'],
  auditor: ['view', 'verify'],
  support: ['view', 'reveal', 'support', 'contest', 'acknowledge'],
  finance: ['view', 'contest', 'finance', 'acknowledge', 'verify'],
  operations: ['view', 'support', 'operations', 'acknowledge', 'verify'],
  operator: ['view', 'reveal', 'support', 'contest', 'finance', 'operations', 'acknowledge', 'verify'],
  admin: [
    'view',
    'reveal',
    'support',
    'contest',
    'finance',
    'operations',
    'acknowledge',
    'verify',
    'administer',
  ],
} as const satisfies Record<string, readonly Permission[]>
export type Role = keyof typeof BY_ROLE

/** Those who may do less come first. */
export const ROLES = Object.keys(BY_ROLE) as readonly Role[]

export const permissionsOf = (role: Role): readonly Permission[] => BY_ROLE[role]

export const permits = (role: Role, permission: Permission): boolean =>
  permissionsOf(role).includes(permission)

/** Whether one role may do all that another may. */
export const covers = (role: Role, other: Role): boolean =>
  permissionsOf(other).every((permission) => permits(role, permission))

/** Whether a role changes nothing: no money, no tenant, and no access of a person. */
export const onlyLooks = (role: Role): boolean => covers('auditor', role)

/** For people whose role does not permit something: which ones do. */
export const rolesWith = (permission: Permission): readonly Role[] =>
  ROLES.filter((role) => permits(role, permission))

/** Throws `role_too_low`. */
export function requirePermission(role: Role, needed: Permission): void {
  if (permits(role, needed)) return
  const roles = rolesWith(needed)
  const those = roles.length === 1 ? `the role ${roles.join()}` : `one of the roles ${roles.join(', ')}`
  fail('role_too_low', { description: `This needs ${those}; yours is ${role}` })
}
