/** Roles of members of a tenant: each may do what the ones before it may (decision O6). */
export const MEMBER_ROLES = ['viewer', 'operator', 'admin'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]
