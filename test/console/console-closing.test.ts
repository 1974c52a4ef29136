import { inBrowser } from './bed.ts'
import { closing } from './closing.ts'

inBrowser('closing a month in the console', { empty: [closing] })
