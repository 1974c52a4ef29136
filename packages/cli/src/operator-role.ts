import { ROLES, type Role } from '@svc/console-api/console-schema'
import { UsageError } from './usage-error.ts'

export function readRole(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (!role) throw new UsageError(`The role must be one of ${ROLES.join(', ')}`)
  return role
}
