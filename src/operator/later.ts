import { fail } from '../errors.ts'
export const later = () => () => fail('internal_error')
