// Adds up the checks and the tests of a run: the one line that CI reads, and the exit code.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '.', testsExit] = process.argv.slice(2)
/** @param {string} name */
const read = (name) => {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8'))
  } catch {
    console.log(`${name} was not written: its run broke off`)
    return undefined
  }
}
const checks = read('checks.json') ?? { passed: 0, failed: 1 }
const tests = read('tests.json') ?? {
  numPassedTests: 0,
  numFailedTests: 1,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
}
/** @typedef {{ status: string, assertionResults: { status: string }[] }} TestFile */

// A file that could not even be loaded has no failed test of its own, and is a failure all the same.
const brokenFiles = /** @type {TestFile[]} */ (tests.testResults).filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
).length
const passed = checks.passed + tests.numPassedTests
const skipped = tests.numPendingTests + tests.numTodoTests
let failed = checks.failed + tests.numFailedTests + brokenFiles
// Errors outside of any test fail the run without failing a test.
if (testsExit !== '0' && tests.numFailedTests + brokenFiles === 0) failed += 1
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0
