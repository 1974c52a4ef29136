import { UsageError } from './usage-error.ts'

export function readRole<R extends string>(text: string, roles: readonly R[]): R {
  const role = roles.find((known) => known === text)
  if (!role) throw new UsageError(`The role must be one of ${roles.join(', ')}`)
  return role
}
