import type { FastifySchemaValidationError } from 'fastify'

const FAULTS_MAX = 20
const NAME_MAX = 60

interface AjvFault extends FastifySchemaValidationError {
  /** Present because the validator runs with `verbose`. Never read `data` of it: values are not repeated to callers. */
  parentSchema?: { 'x-rule'?: string }
}

/** What a person calls the place: `customParams.color`, or where the request has it. */
function place(pointer: string, part: string): string {
  const path = pointer
    .split('/')
    .slice(1)
    .map((step) => printable(step.replaceAll('~1', '/').replaceAll('~0', '~')))
  return path.length > 0 ? path.join('.') : part === 'body' ? 'the body' : `the ${part}`
}

/** Names come from the caller too: only letters, digits and a few marks of them are repeated. */
const printable = (name: string): string => name.replace(/[^\w.$@ -]/g, '?').slice(0, NAME_MAX)

const within = (pointer: string, name: string): string => {
  const parent = pointer.split('/').slice(1).join('.')
  return parent ? `${printable(parent)}.${printable(name)}` : printable(name)
}

function describe(fault: AjvFault, part: string): string {
  const { keyword, params, instancePath } = fault
  const name = place(instancePath, part)
  const rule = fault.parentSchema?.['x-rule']
  switch (keyword) {
    case 'required':
      return `${within(instancePath, String(params['missingProperty']))}: is required`
    case 'additionalProperties':
      return `${within(instancePath, String(params['additionalProperty']))}: is not a known field`
    case 'propertyNames':
      return `${name}: has a name that breaks its rule`
    case 'type':
      return `${name}: must be ${/^[aeiou]/.test(String(params['type'])) ? 'an' : 'a'} ${String(params['type'])}`
    case 'enum':
      return `${name}: must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`
    case 'pattern':
    case 'format':
      return `${name}: ${rule ?? 'does not have the form that is asked for'}`
    case 'minLength':
      return `${name}: ${rule ?? `must have at least ${String(params['limit'])} characters`}`
    case 'maxLength':
      return `${name}: must have at most ${String(params['limit'])} characters`
    case 'maxProperties':
      return `${name}: must have at most ${String(params['limit'])} entries`
    case 'minimum':
      return `${name}: must be at least ${String(params['limit'])}`
    case 'maximum':
      return `${name}: must be at most ${String(params['limit'])}`
    default:
      return `${name}: ${rule ?? fault.message ?? 'is not valid'}`
  }
}

/** Decision F4: names every bad field and its rule, never its value. */
export function describeFaults(faults: readonly FastifySchemaValidationError[], part: string): string {
  const lines = [
    ...new Set(faults.filter((fault) => fault.keyword !== 'if').map((fault) => describe(fault, part))),
  ]
  const shown = lines.slice(0, FAULTS_MAX)
  if (lines.length > FAULTS_MAX) shown.push(`and ${lines.length - FAULTS_MAX} more`)
  return shown.join('; ')
}
